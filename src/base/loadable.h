// Whether code of a file may be loaded into this process. Pure.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

namespace sabath {

// Why a file of code, or the directory that it lies in, may not be trusted. Owned by root, by this user or by the
// program's owner, and no more open to others than the program itself: a site installs by an account of its own.
[[nodiscard]] std::optional<std::string> why_not_trusted(const struct stat& file, const struct stat& program,
                                                         unsigned user);

}  // namespace sabath
