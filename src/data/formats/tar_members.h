// The first members of a tar archive, one behind the other as they pass: enough to see what a loader of models or
// tables would read out of it, as Python's Lib/tarfile does: a member of an unknown type is a file. Also POSIX.1-2017,
// pax. One thread at a time. Throws what the source throws; Error{invalid} where tarfile could read something else, or
// go on: bytes behind a member that are no header, two sizes of one member, a member in pieces, a bound.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "formats/bytes.h"

namespace sabath {

[[nodiscard]] bool is_tar(std::string_view first_bytes);  // of 512 bytes, whose checksum is right

using TarVisit = std::function<void(const std::string& name, ByteSource& content)>;

// Visits at most `members_max` files. `content` ends where the member does; what of it is not read is skipped. `name`,
// printable, is for messages. False: it came to `members_max`, and there may be more.
bool for_each_tar_member(ByteSource& source, std::size_t members_max, const std::string& name, const TarVisit& visit);

}  // namespace sabath
