// What posix_spawn(3) gives a child of ours, beside its three streams: nothing that a host has open. Its files may be
// locked, and a lock lasts as long as anybody holds the file.
#pragma once

#include <spawn.h>

namespace sabath {

// After the actions that make the streams. Before glibc 2.34 a child has what its host does not close on exec.
inline void keep_streams_only(posix_spawn_file_actions_t* actions) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  posix_spawn_file_actions_addclosefrom_np(actions, 3);
#else
  static_cast<void>(actions);
#endif
}

}  // namespace sabath
