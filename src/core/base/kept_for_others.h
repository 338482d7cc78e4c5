// Directories of this user's in which SABATH itself keeps what others wrote: that he owns such a file says nothing
// about its author. Any thread; throws nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sabath {

// Why the words of the file are another's: it stands in a store (but among its registered names), in a subscribed
// catalogue or among what a call sent, in the copy of its code that a run made, or as the lock of a job. nullopt: it
// stands in none.
// `real`: without symlinks.
[[nodiscard]] std::optional<std::string> why_kept_for_others(const std::filesystem::path& real);

}  // namespace sabath
