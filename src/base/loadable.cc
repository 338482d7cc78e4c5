#include "base/loadable.h"

#include <fmt/format.h>

namespace sabath {

std::optional<std::string> why_not_trusted(const struct stat& file, const struct stat& program, unsigned user) {
  if (file.st_uid != 0 && file.st_uid != user && file.st_uid != program.st_uid)
    return fmt::format("owned by uid {}, and not by root or you", file.st_uid);
  const mode_t others = S_IWOTH | S_IWGRP;
  const mode_t as_program = program.st_gid == file.st_gid ? program.st_mode & S_IWGRP : 0;
  if ((file.st_mode & others & ~as_program) != 0)
    return fmt::format("others may write it (mode {:o})", file.st_mode & 07777U);
  return std::nullopt;
}

}  // namespace sabath
