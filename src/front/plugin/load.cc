#include "plugin/load.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

[[noreturn]] void refuse(std::string_view name, std::string_view why) {
  const bool no_room = why.find("failed to map segment") != why.npos || why.find("cannot allocate") != why.npos;
  if (no_room)
    throw Error(FailureKind::storage, fmt::format("cannot load libsabath_{}.so: {}", name, printable(why, 500)),
                "raise the limit of address space (`ulimit -v`) or of memory");
  throw Error(FailureKind::internal, fmt::format("cannot load libsabath_{}.so: {}", name, printable(why, 500)),
              fmt::format("its place is {}, seen from the program's directory: install both together, and load the "
                          "modules that they were built with",
                          SABATH_PLUGINS));
}

// Global, as if the program were linked with it: HDF5 opens plugins of its own, which look for its symbols.
// Now, so that a plugin of another build, which calls what this program has not, is refused here.
template <typename Table>
const Table& open(std::string_view name) {
  const std::string file = fmt::format("$ORIGIN/" SABATH_PLUGINS "/libsabath_{}.so", name);
  void* const plugin = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (plugin == nullptr) refuse(name, ::dlerror());
  const auto* const table = static_cast<const Table*>(::dlsym(plugin, plugin_table_name));
  if (table == nullptr) refuse(name, ::dlerror());
  if (std::string_view(table->headers) != SABATH_HEADERS_HASH) refuse(name, "it is of another build");
  return *table;
}

}  // namespace

const IoTable& io_plugin() {
  static const IoTable& table = open<IoTable>("io");
  return table;
}

}  // namespace sabath
