// How much memory a process may still fill, where files in memory count against it: the machine's, and that of its
// control groups. Free function; any thread. Throws nothing but std::bad_alloc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace sabath {

struct MemoryLeft {
  std::uint64_t bytes = 0;
  std::string by;  // "the machine", "cgroup memory.max of /job_7"
};

// The least of MemAvailable and, for each control group from this process's upwards, version 2 or 1, its limit less the
// memory that it uses and cannot give back. nullopt: not known. The directories are those of the system, or a test's.
[[nodiscard]] std::optional<MemoryLeft> memory_left(const std::filesystem::path& proc = "/proc",
                                                    const std::filesystem::path& cgroups = "/sys/fs/cgroup");
// The same of all memory that it might ever fill: MemTotal and the limits, used or not.
[[nodiscard]] std::optional<MemoryLeft> memory_whole(const std::filesystem::path& proc = "/proc",
                                                     const std::filesystem::path& cgroups = "/sys/fs/cgroup");

}  // namespace sabath
