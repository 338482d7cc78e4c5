#include "serve/access_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>

#include "sabath/path.h"

namespace sabath {
namespace {

// A field of the line: escaped, and without spaces, so that fields can be told apart.
std::string field(const std::string& text) {
  std::string shown = printable(text, 160);
  for (std::size_t at = 0; (at = shown.find(' ', at)) != shown.npos;) shown.replace(at, 1, "%20");
  return shown.empty() ? "-" : shown;
}

constexpr std::array endings{"ok", "cut", "broken", "silent", "refused"};

}  // namespace

std::string to_line(const AccessEntry& access) {
  const std::time_t seconds = access.time_ms / 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z {} {} {} {} {} {:.3f} {}", fmt::gmtime(seconds),
                     access.time_ms % 1000, access.client, field(access.method), field(access.path),
                     access.status == 0 ? "-" : std::to_string(access.status), access.bytes, access.seconds,
                     endings.at(static_cast<std::size_t>(access.ending)));
}

}  // namespace sabath
