// Documents of other standards come from any server: for any bytes, the reader gives a recipe whose text is read again
// as the same, says that it is none, or throws Error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "recipe/document.h"
#include "recipe/parse.h"
#include "sabath/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sabath;
  static const DocumentPlace place{"https://a.example/d/page", Url::parse("https://a.example/d/page")};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto document = try_read_document(text, place);
    if (!document) return 0;
    const Recipe& recipe = document->recipe;
    for (const Fragment& fragment : recipe.fragments)
      for (const Url& url : fragment.urls)
        if (url.scheme() == "file") __builtin_trap();
    const std::string written = text_of_recipe(recipe);
    if (text_of_recipe(parse_recipe(written, "written.json", recipe.kind)) != written) __builtin_trap();
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::invalid) __builtin_trap();
  }
  return 0;
}
