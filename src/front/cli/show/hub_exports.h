// What a shell is to be told so that Hugging Face's libraries read a cache and ask no network. Pure; any thread.
#pragma once

#include <filesystem>
#include <string>

namespace sabath::cli {

// "export HF_HUB_CACHE=... HF_HUB_OFFLINE=1", to be read by a shell.
[[nodiscard]] std::string hub_exports(const std::filesystem::path& cache);

}  // namespace sabath::cli
