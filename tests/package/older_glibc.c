// To be preloaded: the C library looks as if it were 2.28, which has none of the younger functions that a program asks for
// by name. What a program is linked with is checked by packaging/check-tree.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static const char* const younger[] = {"posix_spawn_file_actions_addchdir_np", "posix_spawn_file_actions_addclosefrom_np"};

void* dlsym(void* handle, const char* name) {
  static void* (*real)(void*, const char*);
  static const char* const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
  for (size_t i = 0; real == NULL && i < sizeof versions / sizeof *versions; ++i)
    real = (void* (*)(void*, const char*))dlvsym(RTLD_NEXT, "dlsym", versions[i]);
  for (size_t i = 0; i < sizeof younger / sizeof *younger; ++i)
    if (strcmp(name, younger[i]) == 0) return NULL;
  return real == NULL ? NULL : real(handle, name);
}
