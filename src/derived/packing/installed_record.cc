#include "packing/installed_record.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/file.h"
#include "base/hash.h"
#include "base/hmac.h"
#include "packing/tree_copy.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

class RecordReader {
 public:
  RecordReader(std::string_view text, const std::string& origin) : left_(text), origin_(origin) {}

  std::vector<InstalledFile> read() {
    std::vector<InstalledFile> rows;
    while (!left_.empty()) {
      ++line_;
      std::vector<std::string> fields;
      do fields.push_back(field());
      while (take(','));
      take('\r');
      if (!left_.empty() && !take('\n')) fail("has text behind a quoted field");
      if (fields.size() == 1 && fields[0].empty()) continue;
      if (fields.size() != 3 || fields[0].empty()) fail("has other than three fields");
      if (rows.size() >= packed_files_max) fail("is too long");
      rows.push_back({std::move(fields[0]), std::move(fields[1]), std::move(fields[2])});
    }
    return rows;
  }

 private:
  bool take(char c) {
    if (left_.empty() || left_.front() != c) return false;
    left_.remove_prefix(1);
    return true;
  }

  std::string field() {
    if (!take('"')) {
      const std::size_t end = std::min(left_.find_first_of(",\r\n"), left_.size());
      std::string plain(left_.substr(0, end));
      left_.remove_prefix(end);
      return plain;
    }
    std::string quoted;
    for (;;) {
      if (left_.empty()) fail("has a quote without an end");
      const char c = left_.front();
      left_.remove_prefix(1);
      if (c != '"') {
        quoted += c;
      } else if (take('"')) {
        quoted += '"';
      } else {
        return quoted;
      }
    }
  }

  [[noreturn]] void fail(std::string_view why) const {
    throw Error(FailureKind::invalid, fmt::format("{}:{} {}", printable(origin_, 1000), line_, why),
                "install the package again");
  }

  std::string_view left_;
  const std::string& origin_;
  std::size_t line_ = 0;
};

std::string quoted_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::vector<InstalledFile> parse_installed_record(std::string_view text, const std::string& origin) {
  return RecordReader(text, origin).read();
}

std::string installed_record_text(const std::vector<InstalledFile>& files) {
  std::vector<std::string> lines;
  for (const InstalledFile& each : files)
    lines.push_back(fmt::format("{},{},{}\n", quoted_field(each.path), each.hash, each.size));
  std::ranges::sort(lines);
  const auto last = std::unique(lines.begin(), lines.end());
  std::string text;
  for (auto line = lines.begin(); line != last; ++line) text += *line;
  return text;
}

std::string record_digest(std::string_view hex) {
  const auto half = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) bytes += static_cast<char>(half(hex[i]) * 16 + half(hex[i + 1]));
  std::string word = to_base64(bytes);
  for (char& c : word) c = c == '+' ? '-' : c == '/' ? '_' : c;
  while (word.ends_with('=')) word.pop_back();
  return word;
}

void describe_installed(InstalledFile& row, const std::filesystem::path& file) {
  const Fd fd = open_file(file, O_RDONLY | O_NOFOLLOW);
  StreamHash hash("sha256");
  std::vector<std::byte> buffer(1 << 20);
  std::uint64_t at = 0;
  for (std::size_t got = 0; (got = read_at(fd.get(), buffer, at, file)) > 0; at += got)
    hash.update(std::span(buffer).first(got));
  row.hash = "sha256=" + record_digest(hash.finish_hex());
  row.size = std::to_string(at);
}

}  // namespace sabath
