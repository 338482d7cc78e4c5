// Files that hold a secret: read only if no other user can read them. Any thread. Throws Error{access} for a file that
// other users may read, Error{usage} for one that is absent, empty or no secret.
#pragma once

#include <filesystem>

#include "sabath/secret.h"

namespace sabath {

// All of it: a private key. At most 1 MiB.
[[nodiscard]] Secret read_secret_file(const std::filesystem::path& file);
// One line of visible ASCII, the white space around it cut off: a token. At most 8 KiB.
[[nodiscard]] Secret read_token_file(const std::filesystem::path& file);
// The same rules for a token from another place; `name` says which, for messages.
[[nodiscard]] Secret checked_token(std::string_view text, std::string_view name);

}  // namespace sabath
