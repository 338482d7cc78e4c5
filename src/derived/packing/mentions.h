// Texts of a packed tree that still have its old place in them: nothing reads them, mostly, and people should know. One
// thread. Throws Error{storage}.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sabath {

// For people: the first of them, and their number. nullopt: there are none. Programs, libraries, .pyc, .a and large
// files are not searched.
[[nodiscard]] std::optional<std::string> remark_of_mentions(const std::filesystem::path& top,
                                                            const std::filesystem::path& place);

}  // namespace sabath
