#include "formats/zip.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "formats/gzip.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::uint64_t directory_bytes_max = 64 << 20, tail_bytes = 22 + 65'536;
constexpr unsigned made_by_unix = 3;
constexpr std::string_view end_mark = "PK\5\6", local_mark = "PK\3\4";

[[noreturn]] void refuse_zip(std::string_view name, std::string_view what) {
  throw Error(FailureKind::invalid, fmt::format("cannot read {}: {}", name, what),
              "the archive is damaged: get the file again");
}

// Ends after the bytes that the list promised; says when there are fewer or more.
class MemberBytes final : public ByteSource {
 public:
  MemberBytes(const FileBytes& file, std::uint64_t offset, const ZipMember& member, std::string name)
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
  std::uint64_t skip(std::uint64_t bytes) override {
    if (unpacked_) return ByteSource::skip(bytes);
    const std::uint64_t passed = packed_.skip(std::min(bytes, left_));
    left_ -= passed;
    return passed;
  }

 private:
  FileSlice packed_;
  std::optional<InflateSource> unpacked_;
  std::uint64_t left_;
  std::string name_;
};

}  // namespace

ZipArchive::ZipArchive(const std::filesystem::path& file) : file_(file), name_(printable(file.native(), 4096)) {
  const auto read = [this](std::uint64_t offset, std::span<std::byte> into) {
    return read_at(file_.fd(), into, offset, file_.path());
  };
  directory_ = ZipDirectory::find(read, file_.size_bytes(), name_);
  if (!directory_) refuse_zip(name_, "its list of members cannot be found");
  if (directory_->bytes() > directory_bytes_max || directory_->members() > members_max)
    refuse_zip(name_, fmt::format("it lists {} members in {} bytes", directory_->members(), directory_->bytes()));
  if (directory_->before() > 0 || directory_->behind() > 0 || directory_->is_followed())
    refuse_zip(name_, "it holds bytes that its list of members does not know");
  directory_->for_each([&](const ZipEntry& entry) {
    if (entry.method == 0 && entry.packed_bytes != entry.bytes)
      refuse_zip(name_, fmt::format("the sizes of {} contradict each other", printable(entry.name)));
    members_.push_back({std::string(entry.name), entry.packed_bytes, entry.bytes, entry.header_offset, entry.flags,
                        entry.method, entry.made_by == made_by_unix ? entry.attributes >> 16 : 0});
  });
}

const ZipMember* ZipArchive::find(std::string_view name) const {
  // Of several of one name the last counts, as it does for Python.
  const auto found =
      std::find_if(members_.rbegin(), members_.rend(), [&](const auto& one) { return one.name == name; });
  return found == members_.rend() ? nullptr : &*found;
}

std::unique_ptr<ByteSource> ZipArchive::open(const ZipMember& member) const {
  const std::string name = fmt::format("{}:{}", name_, printable(member.name));
  if (member.method != 0 && member.method != 8)
    refuse_zip(name, fmt::format("it is packed by method {}", member.method));
  if ((member.flags & 1U) != 0) refuse_zip(name, "it is encrypted");
  const std::uint64_t data = directory_->content_offset(member.name, member.method, member.header_offset);
  return std::make_unique<MemberBytes>(file_, data, member, name);
}

bool is_zip(std::string_view first_bytes) {
  return first_bytes.starts_with(local_mark) || first_bytes.starts_with(end_mark);
}

bool ends_as_zip(const FileBytes& file) {
  const std::uint64_t size = file.size_bytes();
  const std::uint64_t from = size - std::min(size, tail_bytes);
  return file.at(from, size - from).find(end_mark) != std::string::npos;
}

}  // namespace sabath
