// A writer is one open store of one process. Its text stands in file names, and tells other processes whether the
// writer can still come back. Values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sabath {

// A machine between two boots.
struct HostId {
  std::string name;           // [A-Za-z0-9_-.], at most 64, does not begin with '.'
  std::uint64_t machine = 0;  // of the installation; 0: it has none, and only the boot tells hosts apart
  std::uint64_t boot = 0;     // of this boot
  std::uint64_t pid_namespace = 0;
  friend bool operator==(const HostId&, const HostId&) = default;
};

struct WriterId {
  HostId host;
  std::int64_t pid = 0;
  std::uint64_t start_time = 0;  // of the process, in clock ticks since the boot
  std::uint64_t nonce = 0;       // one process may open the store twice

  [[nodiscard]] std::string text() const;  // at most 180 bytes, no '/', no '+'
  [[nodiscard]] static std::optional<WriterId> try_parse(std::string_view text);
  [[nodiscard]] static WriterId of_this_process();  // reads /proc; without it no process can judge this writer
  friend bool operator==(const WriterId&, const WriterId&) = default;
};

enum class Life { alive, dead, unknown };

// Says only what this machine can know: it looks up a process of the same boot and pid namespace; any other is unknown.
[[nodiscard]] Life life_of(const WriterId& writer, const HostId& here);

}  // namespace sabath
