#include "machine/memory_left.h"

#include <fmt/format.h>

#include <string_view>

#include "base/file.h"
#include "base/text.h"
#include "sabath/error.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t text_size_max = 1 << 20;
constexpr std::uint64_t no_limit_v1 = 1ULL << 60;  // "unlimited" is the greatest number of whole pages there

std::string read(const fs::path& file) {
  try {
    return try_read_text(file, text_size_max).value_or("");
  } catch (const Error&) {
    return "";
  }
}

// The number that follows `key` at the beginning of a line.
std::optional<std::uint64_t> try_field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(key) || line.size() == key.size()) continue;
    const char next = line[key.size()];
    if (next != ' ' && next != '\t' && next != ':') continue;
    line = trim(line.substr(key.size() + 1));
    return try_whole_number(trim(line.substr(0, line.find(' '))));
  }
  return std::nullopt;
}

void take_less(std::optional<MemoryLeft>& least, std::uint64_t bytes, std::string by) {
  if (!least || bytes < least->bytes) least = {bytes, std::move(by)};
}

// Pages of files on disks are given back when they are needed; those of files in memory are not.
std::uint64_t left_of(std::uint64_t limit, std::uint64_t used, std::uint64_t cached, std::uint64_t in_memory) {
  const std::uint64_t given_back = cached > in_memory ? cached - in_memory : 0;
  const std::uint64_t kept = used > given_back ? used - given_back : 0;
  return limit > kept ? limit - kept : 0;
}

struct Names {
  const char *limit, *used, *cached, *in_memory;
};
constexpr Names version_2{"memory.max", "memory.current", "file", "shmem"};
constexpr Names version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache", "total_shmem"};

// From the process's own group up to the root that it sees; skips groups that are not visible here.
void look_upwards(const fs::path& root, fs::path group, const Names& names, bool whole,
                  std::optional<MemoryLeft>& least) {
  for (int depth = 0; depth < 64; ++depth) {
    const fs::path directory = root / group.relative_path();
    const auto limit = try_whole_number(trim(read(directory / names.limit)));
    if (whole && limit && *limit < no_limit_v1) {
      take_less(least, *limit, fmt::format("cgroup {} of {}", names.limit, group.native()));
    }
    const auto used = try_whole_number(trim(read(directory / names.used)));
    if (!whole && limit && used && *limit < no_limit_v1) {
      const std::string stat = read(directory / "memory.stat");
      const auto cached = try_field(stat, names.cached), in_memory = try_field(stat, names.in_memory);
      take_less(least, left_of(*limit, *used, cached.value_or(0), in_memory.value_or(0)),
                fmt::format("cgroup {} of {}", names.limit, group.native()));
    }
    if (!group.has_relative_path()) return;
    group = group.parent_path();
  }
}

// `whole`: the limits alone, used or not.
std::optional<MemoryLeft> least_memory(const fs::path& proc, const fs::path& cgroups, bool whole) {
  std::optional<MemoryLeft> least;
  const char* const of_machine = whole ? "MemTotal" : "MemAvailable";
  if (const auto kib = try_field(read(proc / "meminfo"), of_machine)) take_less(least, *kib * 1024, "the machine");
  std::string text = read(proc / "self" / "cgroup");
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    // cgroups(7): "4:memory:/path", and "0::/path" of version 2.
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const fs::path group = std::string(line.substr(second + 1));
    if (!group.is_absolute() || group != group.lexically_normal()) continue;
    if (controllers == ",,") look_upwards(cgroups, group, version_2, whole, least);
    if (controllers.find(",memory,") != std::string::npos)
      look_upwards(cgroups / "memory", group, version_1, whole, least);
  }
  return least;
}

}  // namespace

std::optional<MemoryLeft> memory_left(const fs::path& proc, const fs::path& cgroups) {
  return least_memory(proc, cgroups, false);
}

std::optional<MemoryLeft> memory_whole(const fs::path& proc, const fs::path& cgroups) {
  return least_memory(proc, cgroups, true);
}

}  // namespace sabath
