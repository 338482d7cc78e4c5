// The run's own copy of the code: writable, with reflinks where the filesystem has them, so that nothing a run does can
// change what the next one reads. Any thread. Throws Error{storage}, Error{space}, Error{invalid}, Error{interrupted}.
#pragma once

#include <filesystem>
#include <stop_token>

namespace sabath {

// Regular files (executable bit kept), directories, and relative symlinks that stay inside; anything else is refused.
// At most 1,000,000 entries.
void copy_source(const std::filesystem::path& from, const std::filesystem::path& to, const std::stop_token& stop);

}  // namespace sabath
