// What failed, in the words of a caller who gives requests and not options. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace sabath {

// An option that a text names, --keep-archives, becomes the key "keep_archives" of a request or of the settings.
[[nodiscard]] std::string with_keys(std::string_view text);

}  // namespace sabath
