// What a catalogue of others says: its index names files below the folders of recipes or is refused as `invalid`; and a
// change of a recipe's text leaves JSON, or is refused.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json_reader.h"
#include "base/text.h"
#include "recipe/edit.h"
#include "recipe/index_file.h"
#include "sabath/error.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check_failure(const sabath::Error& error) {
  const sabath::FailureKind kind = error.failure().kind;
  check(kind == sabath::FailureKind::invalid || kind == sabath::FailureKind::usage);
  check(sabath::is_utf8(error.failure().message));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto files = sabath::parse_index(text, "index.json");
    check(files.size() <= sabath::catalogue_files_max);
    for (const sabath::CatalogueFile& file : files)
      check(file.path.text().find("..") != 0 && file.path.text()[0] != '/');
  } catch (const sabath::Error& error) {
    check_failure(error);
  }
  const std::size_t line = std::min(text.find('\n'), text.size());
  try {
    const auto edit = sabath::parse_recipe_edit(std::string(text.substr(0, line)));
    const std::string changed = sabath::edited_recipe(std::string(text.substr(line)), "x.json", edit);
    static_cast<void>(sabath::parse_json(changed, "changed"));
  } catch (const sabath::Error& error) {
    check_failure(error);
  }
  return 0;
}
