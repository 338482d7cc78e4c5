#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <span>
#include <string>
#include <vector>

#include "cli/frame/signals.h"
#include "cli/program.h"
#include "cli/wording.h"
#include "companion/act.h"
#include "sabath/environment.h"

namespace {

// The next opened file would get the number of a closed standard stream, and the output of the program. So a descriptor
// that refuses holds the number: a write to standard output then fails, as it should.
void hold_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    [[maybe_unused]] const int held = ::open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
  }
}

// malloc makes an arena of 64 MiB of addresses for each thread, and the caller may have limited the addresses.
void spare_addresses() {
#ifdef M_ARENA_MAX
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) ::mallopt(M_ARENA_MAX, 1);
#endif
}

}  // namespace

int main(int count, char** arguments) {
  hold_standard_streams();
  spare_addresses();
  sabath::use_wording(sabath::cli::wording_of_lines);
  const std::span all(arguments, static_cast<std::size_t>(count));
  if (const auto code = sabath::companion::try_act(all)) return *code;
  sabath::cli::Signals signals;
  return sabath::cli::run_program(std::vector<std::string>(arguments + (count > 0 ? 1 : 0), arguments + count),
                                  sabath::Environment::of_process(), signals);
}
