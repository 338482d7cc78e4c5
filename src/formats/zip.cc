#include "formats/zip.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "formats/gzip.h"
#include "formats/protobuf.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t end_bytes = 22, comment_bytes_max = 65535, entry_bytes = 46, local_bytes = 30;
constexpr std::uint64_t directory_bytes_max = 64 << 20;
constexpr std::uint32_t not_here_32 = 0xffffffff;  // the number stands in the zip64 field
constexpr std::string_view end_mark = "PK\5\6", end64_mark = "PK\6\6", place64_mark = "PK\6\7", entry_mark = "PK\1\2",
                           local_mark = "PK\3\4";

[[noreturn]] void refuse_zip(std::string_view name, std::string_view what) {
  throw Error(FailureKind::invalid, fmt::format("cannot read {}: {}", name, what),
              "the archive is damaged: get the file again");
}

std::string bytes_at(const std::filesystem::path& file, std::uint64_t offset, std::uint64_t length) {
  FileBytes source(file, offset, length);
  std::string text(length, '\0');
  text.resize(read_full(source, text));
  return text;
}

std::uint64_t number(std::string_view text, std::size_t at, int bytes) {
  return little_endian(text.substr(at, static_cast<std::size_t>(bytes)), bytes);
}

struct Directory {
  std::uint64_t offset = 0, bytes = 0, members = 0;
};

// Of a zip64 archive, whose record is named by the one before the end.
Directory directory64(const std::filesystem::path& file, std::uint64_t end_at, std::string_view name) {
  if (end_at < 20) refuse_zip(name, "its list of members cannot be found");
  const std::string place = bytes_at(file, end_at - 20, 20);
  if (!place.starts_with(place64_mark)) refuse_zip(name, "its list of members cannot be found");
  const std::uint64_t at = number(place, 8, 8);
  if (at > end_at || end_at - at < 56) refuse_zip(name, "its list of members cannot be found");
  const std::string end = bytes_at(file, at, 56);
  if (!end.starts_with(end64_mark)) refuse_zip(name, "its list of members cannot be found");
  return {number(end, 48, 8), number(end, 40, 8), number(end, 32, 8)};
}

Directory find_directory(const std::filesystem::path& file, std::string_view name) {
  const std::uint64_t size = FileBytes(file).size_bytes();
  if (size < end_bytes) refuse_zip(name, "it is too short for an archive");
  const std::uint64_t begin = size - std::min<std::uint64_t>(size, end_bytes + comment_bytes_max);
  const std::string last = bytes_at(file, begin, size - begin);
  std::size_t at = last.size() - end_bytes + 1;
  do {
    if (at == 0) refuse_zip(name, "its list of members cannot be found");
    at = last.rfind(end_mark, at - 1);
    if (at == std::string::npos) refuse_zip(name, "its list of members cannot be found");
  } while (at + end_bytes + number(last, at + 20, 2) != last.size());  // a mark in a comment is none
  const std::string_view end = std::string_view(last).substr(at);
  if (number(end, 4, 2) != 0 && number(end, 4, 2) != 0xffff) refuse_zip(name, "it is one of several files");
  Directory directory{number(end, 16, 4), number(end, 12, 4), number(end, 10, 2)};
  if (directory.offset == not_here_32 || directory.bytes == not_here_32 || directory.members == 0xffff)
    directory = directory64(file, begin + at, name);
  if (directory.bytes > directory_bytes_max || directory.members > ZipArchive::members_max)
    refuse_zip(name, fmt::format("it lists {} members in {} bytes", directory.members, directory.bytes));
  if (directory.offset > size || directory.bytes > size - directory.offset)
    refuse_zip(name, "its list of members lies beyond its end");
  return directory;
}

// The numbers of an entry that did not fit, in their order, from the extra field 1.
void take_extra(ZipMember& member, std::string_view extra, std::string_view name) {
  while (extra.size() >= 4) {
    const std::uint64_t kind = number(extra, 0, 2), length = number(extra, 2, 2);
    extra.remove_prefix(4);
    if (length > extra.size()) break;
    std::string_view field = extra.substr(0, length);
    extra.remove_prefix(length);
    if (kind != 1) continue;
    for (std::uint64_t* const wide : {&member.bytes, &member.packed_bytes, &member.header_offset}) {
      if (*wide != not_here_32) continue;
      if (field.size() < 8) refuse_zip(name, "a member's sizes are missing");
      *wide = number(field, 0, 8);
      field.remove_prefix(8);
    }
  }
}

// Ends after the bytes that the list promised; says when there are fewer or more.
class MemberBytes final : public ByteSource {
 public:
  MemberBytes(const std::filesystem::path& file, std::uint64_t offset, const ZipMember& member, std::string name)
      : packed_(file, offset, member.packed_bytes), left_(member.bytes), name_(std::move(name)) {
    if (member.method == 8) unpacked_.emplace(packed_, InflateSource::Form::deflate, name_);
  }
  std::size_t read(std::span<char> into) override {
    ByteSource& from = unpacked_ ? static_cast<ByteSource&>(*unpacked_) : packed_;
    if (left_ == 0) {
      char more = 0;
      if (unpacked_ && from.read({&more, 1}) > 0) refuse_zip(name_, "it unpacks to more bytes than the archive says");
      return 0;
    }
    const std::size_t got =
        from.read(into.first(static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), left_))));
    if (got == 0 && !into.empty()) refuse_zip(name_, "it unpacks to fewer bytes than the archive says");
    left_ -= got;
    return got;
  }

 private:
  FileBytes packed_;
  std::optional<InflateSource> unpacked_;
  std::uint64_t left_;
  std::string name_;
};

}  // namespace

ZipArchive::ZipArchive(std::filesystem::path file) : file_(std::move(file)), name_(printable(file_.native(), 4096)) {
  const Directory directory = find_directory(file_, name_);
  const std::string list = bytes_at(file_, directory.offset, directory.bytes);
  std::string_view rest = list;
  for (std::uint64_t i = 0; i < directory.members; ++i) {
    if (rest.size() < entry_bytes || !rest.starts_with(entry_mark)) refuse_zip(name_, "its list of members ends early");
    const std::uint64_t name_bytes = number(rest, 28, 2), extra_bytes = number(rest, 30, 2), note = number(rest, 32, 2);
    if (rest.size() - entry_bytes < name_bytes + extra_bytes + note)
      refuse_zip(name_, "its list of members ends early");
    ZipMember member{std::string(rest.substr(entry_bytes, name_bytes)), number(rest, 20, 4), number(rest, 24, 4),
                     number(rest, 42, 4), static_cast<unsigned>(number(rest, 10, 2))};
    take_extra(member, rest.substr(entry_bytes + name_bytes, extra_bytes), name_);
    if (member.method == 0 && member.packed_bytes != member.bytes)
      refuse_zip(name_, fmt::format("the sizes of {} contradict each other", printable(member.name)));
    members_.push_back(std::move(member));
    rest.remove_prefix(entry_bytes + name_bytes + extra_bytes + note);
  }
}

const ZipMember* ZipArchive::find(std::string_view name) const {
  const auto found = std::ranges::find(members_, name, &ZipMember::name);
  return found == members_.end() ? nullptr : &*found;
}

std::unique_ptr<ByteSource> ZipArchive::open(const ZipMember& member) const {
  const std::string name = fmt::format("{}:{}", name_, printable(member.name));
  if (member.method != 0 && member.method != 8)
    refuse_zip(name, fmt::format("it is packed by method {}", member.method));
  const std::string local = bytes_at(file_, member.header_offset, local_bytes);
  if (!local.starts_with(local_mark)) refuse_zip(name, "it does not stand where the archive says");
  if ((number(local, 6, 2) & 1) != 0) refuse_zip(name, "it is encrypted");
  const std::uint64_t data = member.header_offset + local_bytes + number(local, 26, 2) + number(local, 28, 2);
  return std::make_unique<MemberBytes>(file_, data, member, name);
}

bool is_zip(std::string_view first_bytes) {
  return first_bytes.starts_with(local_mark) || first_bytes.starts_with(end_mark);
}

}  // namespace sabath
