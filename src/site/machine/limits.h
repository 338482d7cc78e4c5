// The bounds on writing files at one place, and whether a need fits into them. Reading asks the kernel (and, on Lustre,
// its `lfs` program, with a deadline); judging is pure. Free functions; any thread. A bound that cannot be read does
// not count: `unknown` names it. read_limits() throws Error{storage} if the place cannot be asked at all, and
// Error{interrupted}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "machine/memory_left.h"
#include "machine/quota.h"
#include "sabath/error.h"

namespace sabath {

struct FileSizeLimit {
  std::uint64_t bytes = 0;
  std::string by;  // "ulimit -f", "FAT"
};

struct Limits {
  std::string place;                         // a directory, for people
  std::string filesystem;                    // "ext4"; empty: not a known one
  std::uint64_t bytes_free = 0;              // for this user
  std::optional<std::uint64_t> inodes_free;  // nullopt: they are not counted
  std::vector<Quota> quotas;
  std::optional<MemoryLeft> memory;  // if files of this place stand in memory
  std::optional<FileSizeLimit> file_size;
  std::vector<std::string> unknown;
};

// What the tightest quota leaves; nullopt: none bounds the bytes.
[[nodiscard]] std::optional<std::uint64_t> quota_bytes_left(const Limits& limits);

// Reads the limits of the nearest directory that exists, of `place` and those above it.
// `lfs`: Lustre's program; empty: its quotas are not asked.
[[nodiscard]] Limits read_limits(const std::filesystem::path& place, const std::stop_token& stop = {},
                                 const std::string& lfs = "lfs");

// The directory itself, or the nearest one above it that exists.
[[nodiscard]] std::filesystem::path nearest_existing(std::filesystem::path path);

struct Need {
  std::uint64_t bytes = 0, inodes = 0;
  std::uint64_t biggest_file = 0;  // 0: not known
  std::string biggest_name;
};

// Room at the same place that other writers were promised and have not written yet.
struct Promised {
  std::uint64_t bytes = 0, inodes = 0;            // to all users
  std::uint64_t user_bytes = 0, user_inodes = 0;  // to this user alone
  std::uint64_t writers = 0;
};

struct Bound {
  enum class Unit { bytes, inodes };
  std::string what, by;  // "bytes", "user quota, inodes", "memory", "file size"
  Unit unit = Unit::bytes;
  std::uint64_t needed = 0, free = 0, promised = 0;  // `free`: before `promised` is subtracted
  [[nodiscard]] std::uint64_t available() const { return free - (promised < free ? promised : free); }
  [[nodiscard]] bool fits() const { return needed <= available(); }
};

// Every bound that there is, in the order in which people think of them. Pure.
[[nodiscard]] std::vector<Bound> bounds_of(const Limits& limits, const Need& need, const Promised& others);

// Why `what` does not fit, by the first bound that it breaks: Failure{space} with the numbers. Pure.
[[nodiscard]] std::optional<Failure> refusal_of(const Limits& limits, const Need& need, const Promised& others,
                                                std::string_view what);

}  // namespace sabath
