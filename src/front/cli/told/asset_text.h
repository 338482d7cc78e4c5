// An asset as the text that `info` prints. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>

#include "sabath/verbs/info.h"

namespace sabath::cli {

[[nodiscard]] std::string text_of(const AssetDescription& asset, std::size_t width);
[[nodiscard]] std::string text_of(const Tombstone& stone, std::size_t width);

}  // namespace sabath::cli
