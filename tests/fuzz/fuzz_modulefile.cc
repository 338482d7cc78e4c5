// Modulefiles of Lua and of Tcl, read as texts: any bytes end, and all that is kept is bounded.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "expected.h"
#include "software/module_text.h"
#include "software/module_words.h"

namespace {

void check_module(const sabath::ModuleText& said) {
  for (const auto* list : {&said.needs, &said.conflicts, &said.features, &said.provides, &said.directories}) {
    check(list->size() <= sabath::module_values_max);
    for (const auto& value : *list) check(sabath::is_plain_value(value));
  }
  for (const auto& directory : said.directories) check(directory.starts_with('/'));
  check(said.family.empty() || sabath::is_plain_value(said.family));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_module(sabath::read_lua_module(text, "gcc/12.3"));
  check_module(sabath::read_tcl_module(text));
  return 0;
}
