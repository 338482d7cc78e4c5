// The pages of a SQLite database as they were last committed: the file, and what its write-ahead log has newer.
// Internal to sqlite_file.cc. One thread. Throws as sqlite_file.h says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/file.h"

namespace sabath {

class SqlitePages {
 public:
  explicit SqlitePages(const std::filesystem::path& path);

  [[nodiscard]] std::string page(std::uint32_t number) const;  // from 1
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] std::size_t usable_bytes() const { return usable_; }  // of a page
  [[noreturn]] void fail(const std::string& why) const;

 private:
  void lock() const;
  void refuse_hot_journal() const;
  void read_log();

  std::filesystem::path path_;
  Fd fd_, log_;
  std::size_t page_bytes_ = 0, usable_ = 0;
  std::uint32_t count_ = 0;
  std::unordered_map<std::uint32_t, std::uint64_t>
      logged_;  // page -> where its newest committed content stands in the log
};

// The number in the first `bytes` of `text`, highest byte first.
[[nodiscard]] std::uint64_t big_endian(std::string_view text, std::size_t bytes);

}  // namespace sabath
