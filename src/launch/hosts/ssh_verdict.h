// Why no answer came, by how ssh ended and what it said. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hosts/login.h"
#include "sabath/error.h"

namespace sabath {

struct SshEnd {
  int status = 0;                  // of the program ssh: 255 is its own, another one that of the program there
  std::vector<std::string> lines;  // of its standard error, printable
  std::string said;                // on its standard output, before any answer
};

[[nodiscard]] Failure why_no_answer(const HostLogin& login, const SshEnd& end);
// The answer had begun. `later`: what tells how the job does.
[[nodiscard]] Failure why_broken_off(const HostLogin& login, const SshEnd& end, const std::string& later);

}  // namespace sabath
