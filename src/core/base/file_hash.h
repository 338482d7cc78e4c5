// The SHA-256 of a whole file, read in pieces of 1 MiB. Any thread. Throws Error{not_found}, Error{storage}.
#pragma once

#include <filesystem>

#include "sabath/digest.h"

namespace sabath {

[[nodiscard]] Sha256 sha256_of_file(const std::filesystem::path& file);

}  // namespace sabath
