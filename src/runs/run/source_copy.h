// The run's own copy of the code: writable, with reflinks where the filesystem has them, so that nothing a run does can
// change what the next one reads. Any thread. Throws Error{storage}, Error{space}, Error{invalid}, Error{interrupted}.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

namespace sabath {

// Regular files (executable bit kept), directories, and relative symlinks that stay inside; anything else is refused.
// At most 1,000,000 entries.
void copy_source(const std::filesystem::path& from, const std::filesystem::path& to, const std::stop_token& stop);

// Makes the copy a work tree of its repository, for steps that ask git: the history of the bare clone at `bare`, at
// `commit`, with `origin` as its remote, and its submodules as `git submodule update --init` leaves them. Hooks and the
// user's configuration are off. Throws Error{command}.
void add_repository(const std::filesystem::path& source, const std::filesystem::path& bare, const std::string& commit,
                    const std::string& origin, const std::stop_token& stop);

}  // namespace sabath
