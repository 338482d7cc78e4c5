// The first members of a tar archive, one behind the other as they pass: enough to see what a loader of models or
// tables would read out of it. Sources: POSIX.1-2017, pax; Python's Lib/tarfile. One thread at a time. Throws what the
// source throws; where the bytes are no header the walk ends.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "formats/bytes.h"

namespace sabath {

[[nodiscard]] bool is_tar(std::string_view first_bytes);  // of 512 bytes, whose checksum is right

// Visits at most `members_max` regular files. `content` ends where the member does; what of it is not read is skipped.
void for_each_tar_member(ByteSource& source, std::size_t members_max,
                         const std::function<void(const std::string& name, ByteSource& content)>& visit);

}  // namespace sabath
