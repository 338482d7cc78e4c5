// leases/<writer>+<n>: which writer uses which roots, and whether it can still be alive. docs/store.md, "Leases". Free
// functions; any thread. Throws Error{storage} if the folder cannot be listed.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/digest.h"
#include "store/disk/layout.h"
#include "store/disk/writer.h"

namespace sabath {

// Times are those of the server that holds the files, in nanoseconds since 1970; no client's clock is used.
struct LeaseText {
  std::string note, job;      // for people
  bool open = false;          // see LeaseOptions
  std::int64_t since_ns = 0;  // before anything was looked up
  std::vector<Sha256> roots;
  friend bool operator==(const LeaseText&, const LeaseText&) = default;
};

inline constexpr std::size_t lease_roots_max = 512;  // more make it an open one
inline constexpr auto lease_beat = std::chrono::seconds(30);
inline constexpr auto lease_silence_max = std::chrono::minutes(5);  // for a writer that cannot be looked up

[[nodiscard]] std::string encode_lease(const LeaseText& lease);
[[nodiscard]] std::optional<LeaseText> try_decode_lease(std::string_view text);

struct FoundLease {
  std::filesystem::path file;
  std::string writer;  // as the name says
  unsigned owner = 0;  // the user
  LeaseText text;      // of a damaged one: open, since for ever
  bool damaged = false, live = false;
};

// All leases, live ones and others. `now_ns` by the server's clock.
[[nodiscard]] std::vector<FoundLease> read_leases(const Layout& layout, const HostId& here, std::int64_t now_ns);

// Whether the writer of a file `<writer>+<n>` can still be there: it is alive; or it cannot be looked up, and the file
// was touched lately. `now_ns`, the server's clock, is called only where the writer cannot be looked up.
[[nodiscard]] bool is_live(std::string_view name, const HostId& here, std::int64_t beat_ns,
                           const std::function<std::int64_t()>& now_ns);

[[nodiscard]] std::int64_t nanoseconds(const struct timespec& time);
// When a file's mtime was set to now: its owner may set any other, but not the ctime, so a time to come is not
// believed.
[[nodiscard]] std::int64_t touched_ns(const struct stat& file);

}  // namespace sabath
