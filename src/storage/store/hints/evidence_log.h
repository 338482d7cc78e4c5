// The facts that verified/*.log hold, as fixed-size records. docs/store.md, "Evidence". Pure but for read_facts.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sabath/digest.h"

namespace sabath {

// "The file with this inode, as it was at this ctime, held this content." True for ever; useful while stat agrees. No
// device: one filesystem has a different number on each node.
struct Fact {
  Digest digest;  // kind file
  std::uint64_t inode = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;

  [[nodiscard]] static Fact of(const Digest& digest, const struct stat& file);
  friend bool operator==(const Fact&, const Fact&) = default;
};

inline constexpr std::size_t fact_record_size = 80;

void put_fact(std::string& out, const Fact& fact, std::int64_t time_s);     // time_s: when; for people
[[nodiscard]] std::optional<Fact> try_parse_fact(std::string_view record);  // nullopt: torn, or not of this version

// Visits the valid records of a log from `offset` on; returns the offset after the last whole record.
std::uint64_t read_facts(int log, const std::filesystem::path& name, std::uint64_t offset,
                         const std::function<void(const Fact&)>& visit);
std::uint64_t read_facts(const std::filesystem::path& log, std::uint64_t offset,
                         const std::function<void(const Fact&)>& visit);

// True if the log has the fact. It looks at all of it, some thirty times as fast as read_facts.
[[nodiscard]] bool has_fact(int log, const std::filesystem::path& name, const Fact& wanted);

}  // namespace sabath
