// Bytes of the store for a reader that does not check them itself. Any thread. Throws Error{content}, Error{space},
// Error{storage}, Error{interrupted}.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "store/store.h"

namespace sabath {

// Writes the content to `copy`, which is new and this user's alone, and compares what it wrote: another member of a
// shared store may own the object, and change it at any time. `name`: for people.
void copy_proven(Store& store, const Digest& content, const std::filesystem::path& copy, const std::string& name,
                 const std::stop_token& stop);

}  // namespace sabath
