// Recipes come from users and from the network: for any bytes, the reader returns a recipe or throws Error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "recipe/parse.h"
#include "sabath/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const sabath::AssetKind kind : {sabath::AssetKind::dataset, sabath::AssetKind::model}) {
    try {
      const sabath::Recipe recipe = sabath::parse_recipe(text, "fuzz.json", kind);
      for (const sabath::Fragment& fragment : recipe.fragments) {
        if (fragment.urls.empty() || (fragment.type == sabath::FragmentType::file && !fragment.path)) __builtin_trap();
      }
    } catch (const sabath::Error& error) {
      if (error.failure().kind != sabath::FailureKind::invalid) __builtin_trap();
    }
  }
  return 0;
}
