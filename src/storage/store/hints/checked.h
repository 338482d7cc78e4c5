// Notes when each file was last read and found right, and the XXH3 of its bytes. docs/store.md, "Verification and
// quarantine". Hints: a lost one costs a SHA-256. Any thread. Throws nothing but std::bad_alloc.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/digest.h"
#include "store/disk/owners.h"
#include "store/disk/writer_logs.h"

namespace sabath {

struct Check {
  Digest digest;
  std::uint64_t inode = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t xxh3 = 0;  // of the XXH3 of each chunk
  std::int64_t time_ns = 0;
};

inline constexpr std::size_t check_record_size = 80;
void put_check(std::string& out, const Check& check);
[[nodiscard]] std::optional<Check> try_parse_check(std::string_view record);

class Checked {
 public:
  Checked(std::filesystem::path directory, WriterId writer, const Owners& owners, Members members = {});
  ~Checked();
  struct Last {
    std::uint64_t xxh3 = 0;
    std::int64_t time_ns = 0;
  };
  void refresh();  // reads the records that others, and we, have added
  // nullopt: never, or its size, inode or mtime has changed.
  [[nodiscard]] std::optional<Last> find(const Digest& digest, const struct stat& file) const;
  void add(const Check& check);
  void flush();

 private:
  struct Known {  // 48 bytes for each file, so that millions fit
    std::uint64_t key = 0, size_bytes = 0, inode = 0;
    std::int64_t mtime_ns = 0;
    Last last;
  };

  void fold(const std::vector<std::filesystem::path>& logs);

  const Owners& owners_;      // owners of trusted logs
  mutable std::mutex mutex_;  // of what follows
  WriterLogs logs_;
  std::vector<Known> known_;  // sorted by key
  std::string pending_;
};

}  // namespace sabath
