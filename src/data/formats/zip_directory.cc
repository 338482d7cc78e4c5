#include "formats/zip_directory.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/protobuf.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t record_bytes = 22, place64_bytes = 20, record64_bytes = 56, entry_bytes = 46, header_bytes = 30;
constexpr std::size_t comment_bytes_max = 65'536;  // one more than a comment can have: as far as Python looks
constexpr std::size_t list_window_bytes = 1 << 20;
constexpr std::uint64_t elsewhere_16 = 0xffff, elsewhere_32 = 0xffffffff;  // the number stands in a zip64 field
constexpr std::string_view record_mark = "PK\5\6", record64_mark = "PK\6\6", place64_mark = "PK\6\7",
                           entry_mark = "PK\1\2", header_mark = "PK\3\4";
constexpr unsigned large_field = 1, name_field = 0x7075;  // kinds of extra fields: zip64; a name in UTF-8

std::uint64_t number(std::string_view text, std::size_t at, int bytes) {
  return little_endian(text.substr(at, static_cast<std::size_t>(bytes)), bytes);
}

bool is_zeros(std::string_view text) { return text.find_first_not_of('\0') == text.npos; }

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c < 0x80; });
}

template <typename Visit>
void for_each_field(std::string_view extra, const Visit& visit) {
  while (extra.size() >= 4) {
    const auto kind = static_cast<unsigned>(number(extra, 0, 2));
    const std::uint64_t length = number(extra, 2, 2);
    extra.remove_prefix(4);
    if (length > extra.size()) return;
    visit(kind, extra.substr(0, length));
    extra.remove_prefix(length);
  }
}

}  // namespace

std::optional<ZipDirectory> ZipDirectory::find(Read read, std::uint64_t size, std::string name) {
  ZipDirectory directory(std::move(read), size, std::move(name));
  if (!directory.find_end()) return std::nullopt;
  return directory;
}

void ZipDirectory::refuse(std::string_view why) const {
  throw Error(FailureKind::invalid, fmt::format("the archive {} is damaged: {}", name_, why),
              "other programs would read it otherwise: get it again, or tell its publisher");
}

std::string ZipDirectory::text_at(std::uint64_t offset, std::uint64_t length) const {
  std::string text(length, '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const std::size_t got = read_(offset + have, std::as_writable_bytes(std::span(text)).subspan(have));
    if (got == 0) break;
    have += got;
  }
  text.resize(have);
  return text;
}

// Python takes the last mark, and does not ask its comment; others go back to one whose comment fits. Both must be one.
bool ZipDirectory::find_end() {
  const std::uint64_t from = size_ - std::min<std::uint64_t>(size_, record_bytes + comment_bytes_max);
  const std::string tail = text_at(from, size_ - from);
  std::size_t at = tail.size() < record_bytes ? tail.npos : tail.size() - record_bytes;
  if (at == tail.npos) return false;
  const std::string_view last = std::string_view(tail).substr(at);
  if (!last.starts_with(record_mark) || number(last, 20, 2) != 0) at = tail.rfind(record_mark);
  if (at == tail.npos) return false;
  if (tail.size() - at < record_bytes) refuse("its end record is cut off");
  const auto end_of = [&](std::size_t mark) { return mark + record_bytes + number(tail, mark + 20, 2); };
  const std::size_t end = end_of(at);
  if (end > tail.size()) refuse("the comment of its end record is longer than the file");
  if (!is_zeros(std::string_view(tail).substr(end))) behind_ = tail.size() - end;
  for (std::size_t other = 0; (other = tail.find(record_mark, other)) < at; ++other) {
    if (end_of(other) == end || end_of(other) == tail.size()) refuse("it has two end records");
  }
  take_end(from + at, std::string_view(tail).substr(at, record_bytes));
  return true;
}

void ZipDirectory::take_end(std::uint64_t at, std::string_view record) {
  offset_ = number(record, 16, 4);
  bytes_ = number(record, 12, 4);
  members_ = number(record, 10, 2);
  const std::string place = at >= place64_bytes ? text_at(at - place64_bytes, place64_bytes) : "";
  if (place.starts_with(place64_mark)) return take_large(at - place64_bytes, place, record);
  if (offset_ == elsewhere_32 || bytes_ == elsewhere_32) refuse("its list of members cannot be found");
  if (number(record, 4, 2) != 0 || number(record, 6, 2) != 0) refuse("it is one of several files");
  if (number(record, 8, 2) != members_) refuse("it counts its members in two ways");
  place_list(at);
}

// Python takes this record where it is there, others only where the plain numbers ask for it.
void ZipDirectory::take_large(std::uint64_t at, std::string_view place, std::string_view record) {
  const std::string large = at >= record64_bytes ? text_at(at - record64_bytes, record64_bytes) : "";
  if (!large.starts_with(record64_mark)) refuse("the zip64 record is not before its place");
  const std::uint64_t named = number(place, 8, 8), stands = at - record64_bytes;
  if (number(place, 4, 4) != 0 || number(place, 16, 4) > 1 || number(large, 16, 4) != 0 || number(large, 20, 4) != 0)
    refuse("it is one of several files");
  const auto take = [&](std::uint64_t& plain, std::uint64_t elsewhere, std::uint64_t wide) {
    if (plain != elsewhere && plain != wide) refuse("its zip64 record and its end record contradict each other");
    plain = wide;
  };
  if (number(large, 24, 8) != number(large, 32, 8)) refuse("it counts its members in two ways");
  std::uint64_t here = number(record, 8, 2);
  take(here, elsewhere_16, number(large, 24, 8));
  take(members_, elsewhere_16, number(large, 32, 8));
  take(bytes_, elsewhere_32, number(large, 40, 8));
  take(offset_, elsewhere_32, number(large, 48, 8));
  place_list(stands);
  if (named > stands || (stands - named != base_ && stands != named))
    refuse("its zip64 record is elsewhere than it says");
}

void ZipDirectory::place_list(std::uint64_t end) {
  if (bytes_ > end || offset_ > end - bytes_) refuse("its list of members lies beyond its end");
  base_ = end - bytes_ - offset_;
  if (base_ == 0) return;
  const bool by_end = text_at(base_ + offset_, entry_mark.size()) == entry_mark;
  const bool by_number = text_at(offset_, entry_mark.size()) == entry_mark;
  if (by_end && by_number) refuse("it has two lists of members: another zip, it seems, is joined to it");
  if (by_end || members_ == 0) return;
  followed_ = true;
  base_ = 0;
}

void ZipDirectory::for_each(const std::function<void(const ZipEntry&)>& visit) const {
  std::string window;
  std::uint64_t at = base_ + offset_;
  const std::uint64_t end = at + bytes_;
  std::size_t used = 0;
  const auto need = [&](std::uint64_t length) {
    if (length > end - at) refuse("its list of members ends early");
    if (window.size() - used >= length) return;
    window = text_at(at, std::min<std::uint64_t>(end - at, std::max<std::uint64_t>(list_window_bytes, length)));
    used = 0;
    if (window.size() < length) refuse("its list of members ends early");
  };
  for (std::uint64_t i = 0; i < members_; ++i) {
    need(entry_bytes);
    const std::string_view head = std::string_view(window).substr(used);
    if (!head.starts_with(entry_mark)) refuse("its list of members ends early");
    const std::uint64_t name_bytes = number(head, 28, 2), extra_bytes = number(head, 30, 2);
    const std::uint64_t whole = entry_bytes + name_bytes + extra_bytes + number(head, 32, 2);
    need(whole);
    const std::string_view text = std::string_view(window).substr(used, whole);
    ZipEntry entry{text.substr(entry_bytes, name_bytes),
                   text.substr(entry_bytes + name_bytes, extra_bytes),
                   static_cast<unsigned>(number(text, 8, 2)),
                   static_cast<unsigned>(number(text, 10, 2)),
                   number(text, 20, 4),
                   number(text, 24, 4),
                   number(text, 42, 4),
                   at,
                   static_cast<unsigned>(number(text, 5, 1)),
                   static_cast<std::uint32_t>(number(text, 38, 4))};
    if (entry.name.find('\0') != entry.name.npos) refuse("the name of a member holds a zero byte");
    for_each_field(entry.extra, [&](unsigned kind, std::string_view field) {
      if (kind == name_field && field.size() > 5 && is_ascii(field.substr(5)) && field.substr(5) != entry.name)
        refuse(fmt::format("{} has two names", printable(entry.name)));
      if (kind != large_field) return;
      for (std::uint64_t* const wide : {&entry.bytes, &entry.packed_bytes, &entry.header_offset}) {
        if (*wide != elsewhere_32) continue;
        if (field.size() < 8) refuse(fmt::format("the sizes of {} are missing", printable(entry.name)));
        *wide = number(field, 0, 8);
        field.remove_prefix(8);
      }
    });
    if (entry.header_offset > size_) refuse(fmt::format("{} lies beyond its end", printable(entry.name)));
    entry.header_offset += base_;
    visit(entry);
    at += whole;
    used += whole;
  }
  if (at != end) refuse("its list of members is longer than it says");
}

std::uint64_t ZipDirectory::content_offset(std::string_view name, unsigned method, std::uint64_t header_offset) const {
  const std::string head = text_at(header_offset, header_bytes + name.size());
  if (head.size() < header_bytes + name.size() || !head.starts_with(header_mark))
    refuse(fmt::format("{} is not where its list says", printable(name)));
  const std::uint64_t name_bytes = number(head, 26, 2);
  if (name_bytes != name.size() || head.substr(header_bytes) != name)
    refuse(fmt::format("{} has another name before its content than in the list", printable(name)));
  if (number(head, 8, 2) != method) refuse(fmt::format("{} is packed otherwise than its list says", printable(name)));
  return header_offset + header_bytes + name_bytes + number(head, 28, 2);
}

}  // namespace sabath
