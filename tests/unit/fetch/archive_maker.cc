#include "archive_maker.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <locale.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>

namespace sabath::test {
namespace {

constexpr std::size_t block = 512;

void put(std::string& header, std::size_t at, const std::string& text, std::size_t length) {
  if (text.size() > length) throw std::runtime_error("too long for its field: " + text);
  header.replace(at, text.size(), text);
}

// Octal where it fits, else base 256.
void put_number(std::string& header, std::size_t at, std::uint64_t value, std::size_t length) {
  const std::string octal = fmt::format("{:0{}o}", value, length - 1);
  if (octal.size() < length) return put(header, at, octal, length);
  for (std::size_t i = length; i-- > 0; value >>= 8) header[at + i] = static_cast<char>(value & 0xFF);
  header[at] = static_cast<char>(header[at] | 0x80);
}

void seal(std::string& header) {
  header.replace(148, 8, 8, ' ');
  const unsigned sum = std::accumulate(header.begin(), header.end(), 0U,
                                       [](unsigned s, char c) { return s + static_cast<unsigned char>(c); });
  header.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
}

std::string padded(std::string bytes) {
  bytes.resize((bytes.size() + block - 1) / block * block);
  return bytes;
}

std::string number_of(std::uint64_t value, std::size_t length) {  // little-endian
  std::string bytes;
  for (std::size_t i = 0; i < length; ++i) bytes += static_cast<char>(value >> 8 * i & 0xFF);
  return bytes;
}

std::uint32_t crc32_of(const std::string& bytes) {
  std::uint32_t sum = UINT32_MAX;
  for (const char c : bytes) {
    sum ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xEDB88320U : 0);
  }
  return ~sum;
}

la_ssize_t append(archive*, void* out, const void* bytes, size_t length) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), length);
  return static_cast<la_ssize_t>(length);
}

// libarchive's writers ask the thread's locale what a name means.
class Utf8 {
 public:
  Utf8() : mine_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)), before_(uselocale(mine_)) {}
  ~Utf8() {
    uselocale(before_);
    freelocale(mine_);
  }
  Utf8(const Utf8&) = delete;
  Utf8& operator=(const Utf8&) = delete;

 private:
  locale_t mine_, before_;
};

struct Free {
  void operator()(archive* a) const { archive_write_free(a); }
  void operator()(archive_entry* e) const { archive_entry_free(e); }
};

void check(archive* a, int code) {
  if (code < ARCHIVE_WARN) throw std::runtime_error(archive_error_string(a));
}

std::unique_ptr<archive, Free> open_writer(const char* format, const char* filter, std::string& out) {
  std::unique_ptr<archive, Free> writer(archive_write_new());
  check(writer.get(), archive_write_set_format_by_name(writer.get(), format));
  if (*filter != '\0') check(writer.get(), archive_write_add_filter_by_name(writer.get(), filter));
  archive_write_set_bytes_in_last_block(writer.get(), 1);
  check(writer.get(), archive_write_open(writer.get(), &out, nullptr, append, nullptr));
  return writer;
}

}  // namespace

std::string tar_member(const TarMember& member) {
  std::string header(block, '\0');
  put(header, 0, member.name, 100);
  put_number(header, 100, member.mode, 8);
  put_number(header, 108, 0, 8);
  put_number(header, 116, 0, 8);
  put_number(header, 124, member.size == UINT64_MAX ? member.content.size() : member.size, 12);
  put_number(header, 136, 0, 12);
  header[156] = member.type;
  put(header, 157, member.link, 100);
  put(header, 257, std::string("ustar\00000", 8), 8);
  seal(header);
  return header + padded(member.content);
}

std::string tar_of(const std::vector<TarMember>& members) {
  std::string tar;
  for (const auto& member : members) tar += tar_member(member);
  return tar + std::string(tar_end_size, '\0');
}

std::string pax(const std::string& key, const std::string& value, char type) {
  const std::string record = " " + key + "=" + value + "\n";
  std::size_t length = record.size() + 1;
  while (std::to_string(length).size() + record.size() != length) ++length;
  return tar_member({.name = "pax", .content = std::to_string(length) + record, .type = type});
}

std::string zip_of(const std::vector<TarMember>& members, const std::string& before) {
  std::string out = before, directory;
  for (const auto& member : members) {
    const bool link = member.type == '2';
    const std::string& content = link ? member.link : member.content;
    // Version, flags, method, time, date, sum, lengths packed and plain, those of the name and of what is extra.
    const std::string facts = number_of(20, 2) + number_of(0x800, 2) + number_of(0, 6) +
                              number_of(crc32_of(content), 4) + number_of(content.size(), 4) +
                              number_of(content.size(), 4) + number_of(member.name.size(), 2) + number_of(0, 2);
    const std::uint64_t mode = (link ? 0120000U : 0100000U) | member.mode;
    directory += "PK\1\2" + number_of(3 << 8 | 20, 2) + facts + number_of(0, 6) + number_of(mode << 16, 4) +
                 number_of(out.size(), 4) + member.name;
    out += "PK\3\4" + facts + member.name + content;
  }
  const std::size_t begin = out.size();
  return out + directory + "PK\5\6" + number_of(0, 4) + number_of(members.size(), 2) + number_of(members.size(), 2) +
         number_of(directory.size(), 4) + number_of(begin, 4) + number_of(0, 2);
}

std::string archive_of(const std::vector<TarMember>& members, const char* format, const char* filter) {
  const Utf8 names;
  std::string out;
  const auto writer = open_writer(format, filter, out);
  for (const auto& member : members) {
    const std::unique_ptr<archive_entry, Free> entry(archive_entry_new());
    archive_entry_set_pathname_utf8(entry.get(), member.name.c_str());
    archive_entry_set_filetype(entry.get(), member.type == '5' ? AE_IFDIR : member.type == '2' ? AE_IFLNK : AE_IFREG);
    archive_entry_set_perm(entry.get(), static_cast<mode_t>(member.mode));
    if (member.type == '2') archive_entry_set_symlink(entry.get(), member.link.c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(member.content.size()));
    check(writer.get(), archive_write_header(writer.get(), entry.get()));
    if (!member.content.empty()) archive_write_data(writer.get(), member.content.data(), member.content.size());
  }
  check(writer.get(), archive_write_close(writer.get()));
  return out;
}

std::string compressed(const std::string& bytes, const char* filter) {
  std::string out;
  const auto writer = open_writer("raw", filter, out);
  const std::unique_ptr<archive_entry, Free> entry(archive_entry_new());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  check(writer.get(), archive_write_header(writer.get(), entry.get()));
  for (std::size_t at = 0; at < bytes.size();) {
    const auto n = archive_write_data(writer.get(), bytes.data() + at, bytes.size() - at);
    if (n <= 0) throw std::runtime_error(archive_error_string(writer.get()));
    at += static_cast<std::size_t>(n);
  }
  check(writer.get(), archive_write_close(writer.get()));
  return out;
}

// The old GNU format: four (offset, length) pairs in the header, and the whole size.
std::string sparse_tar(const std::string& name, std::uint64_t offset, const std::string& data, std::uint64_t size) {
  std::string header = tar_member({.name = name, .content = data, .type = 'S'}).substr(0, block);
  header.replace(257, 8, std::string("ustar  \0", 8));
  put_number(header, 386, offset, 12);
  put_number(header, 398, data.size(), 12);
  put_number(header, 410, size, 12);
  put_number(header, 422, 0, 12);
  put_number(header, 483, size, 12);
  seal(header);
  return header + padded(data) + std::string(tar_end_size, '\0');
}

}  // namespace sabath::test
