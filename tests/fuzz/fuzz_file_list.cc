// File lists come from servers: for any bytes, the reader returns files below the fragment or throws Error.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/text.h"
#include "recipe/file_list.h"
#include "sabath/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const sabath::Url list = sabath::Url::parse("https://a.example/d/list.txt");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    std::set<std::string> names;
    for (const sabath::ListedFile& file : sabath::parse_file_list(text, list, std::nullopt)) {
      const bool web = file.urls.front().scheme() == "https" || file.urls.front().scheme() == "http";
      const bool safe = sabath::RelativePath::try_parse(file.path.text()).has_value();
      if (!web || !safe || !names.insert(file.path.text()).second) __builtin_trap();
    }
  } catch (const sabath::Error& error) {
    if (error.failure().kind != sabath::FailureKind::invalid || !sabath::is_utf8(error.failure().message))
      __builtin_trap();
  }
  return 0;
}
