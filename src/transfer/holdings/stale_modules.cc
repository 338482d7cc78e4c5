#include "holdings/stale_modules.h"

#include <fmt/format.h>

#include <string_view>

namespace sabath {
namespace {

constexpr std::uint64_t module_bytes_max = 1 << 20;
constexpr int modules_read_max = 3;

// PEP 552: four bytes of the version, then flags. 0: the time and size of the source follow.
bool goes_by_time(std::string_view module) {
  return module.size() >= 16 && module.substr(2, 2) == "\r\n" && module.substr(4, 4) == std::string_view("\0\0\0\0", 4);
}

}  // namespace

void warn_of_stale_modules(const Store& store, const Manifest& manifest, EventSink& events) {
  std::uint64_t modules = 0;
  int read = 0;
  bool stale = false;
  manifest.for_each([&](const Entry& entry) {
    if (!entry.is_file() || !entry.path.text().ends_with(".pyc")) return;
    if (entry.path.text().find("__pycache__/") == std::string::npos) return;
    ++modules;
    if (stale || read >= modules_read_max) return;
    if (const auto text = store.text_of(entry.digest, module_bytes_max)) {
      ++read;
      stale = goes_by_time(*text);
    }
  });
  if (!stale) return;
  events.on(event::Warning{fmt::format(
      "it has {} compiled Python modules that are valid for the old times of their sources only: each import "
      "from a copy compiles anew, and changes the copy; what the verb env pack makes of it stays as it is",
      modules)});
}

}  // namespace sabath
