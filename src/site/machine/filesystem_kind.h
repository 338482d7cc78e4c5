// Filesystems by the number that statfs(2) gives, with the facts that a user of a store should know of each. Pure; any
// thread. Numbers: linux/magic.h and the filesystems' own headers.
#pragma once

#include <string_view>

namespace sabath {

struct FilesystemKind {
  std::string_view name;  // empty: not a known one
  bool shared = false;    // several nodes see it: locks may lie, fresh files may be hidden for a while
  bool in_memory = false;
  std::string_view caution;  // what to do about it; may be empty
};

[[nodiscard]] FilesystemKind filesystem_kind(unsigned long type) noexcept;

}  // namespace sabath
