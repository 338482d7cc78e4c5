// The guardian of a program: what runs between it and `sabath run`. It lives in a fork of a process with threads, so it
// allocates nothing and calls only what is safe there. Used by guarded_process.cc alone.
#pragma once

#include <cstdint>

namespace sabath::guardian {

struct Program {
  const char* file;
  char* const* argv;
  char* const* environment;
  const char* directory;  // may be empty
  int in, out, err;       // the program's streams
  int news;               // News are written here
  int control;            // a byte is a signal for the program's group, 0 is SIGKILL for all, the end is our end
};

struct News {
  enum Kind : std::int32_t { not_started, ended };
  Kind kind;
  std::int32_t value;  // errno; status of waitpid(2)
};

// In the fork: starts the program, and returns never.
[[noreturn]] void stand(const Program& program) noexcept;

}  // namespace sabath::guardian
