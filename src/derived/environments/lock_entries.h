// What the readers of lock files have in common: files on web servers, digests, counts. Pure; any thread. Throws
// Error{invalid} as "file:line: what is wrong".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/json_reader.h"
#include "environments/lock.h"

namespace sabath {

// Hexadecimal digits of this number, in lower case.
[[nodiscard]] std::string digest_digits(std::string_view text, std::size_t digits, std::string_view origin,
                                        std::size_t line);
// "sha256:..." or "md5:..." into the file; another algorithm is passed over. false: it is malformed.
[[nodiscard]] bool take_digest(std::string_view text, LockedFile& file);

// A file on a web server: its URL without a fragment, its name, nothing else yet.
[[nodiscard]] LockedFile web_file(const std::string& url, std::string_view origin, std::size_t line);
// The name and version of a Python package, checked; `version` may be empty.
[[nodiscard]] LockedPackage python_package(JsonObject& object, std::string_view origin);

void check_package_count(std::size_t packages, std::size_t files, std::string_view origin);
[[nodiscard]] std::string place_of(std::string_view origin, std::size_t line);

}  // namespace sabath
