// A filesystem whose locks succeed for everyone, as some parallel and network filesystems have them: to be preloaded.
// With LYING_LOCKS_ERRNO they all fail with that number instead (Lustre without locks: ENOSYS). Each lock that is asked
// for adds a line to the file that LYING_LOCKS_LOG names, so that a test can say how many were.
#undef _FILE_OFFSET_BITS  // with it fcntl would be compiled under the name fcntl64, and both are defined here
#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

namespace {

void note(const char* line) {
  const char* log = std::getenv("LYING_LOCKS_LOG");
  if (log == nullptr) return;
  const long fd = ::syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return;
  if (::write(static_cast<int>(fd), line, std::strlen(line)) < 0) ::abort();
  ::close(static_cast<int>(fd));
}

int answer() {
  const char* number = std::getenv("LYING_LOCKS_ERRNO");
  if (number == nullptr) return 0;
  errno = std::atoi(number);
  return -1;
}

// Everything that is no lock goes to the kernel as it is.
int control(int fd, int command, void* argument) {
  switch (command) {
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
      note("fcntl\n");
      return answer();
    case F_GETLK:
    case F_OFD_GETLK:
      note("fcntl\n");
      static_cast<struct flock*>(argument)->l_type = F_UNLCK;
      return answer();
    default:
      return static_cast<int>(::syscall(SYS_fcntl, fd, command, argument));
  }
}

}  // namespace

extern "C" {

int flock(int, int) noexcept {
  note("flock\n");
  return answer();
}

int lockf(int, int, off_t) {
  note("lockf\n");
  return answer();
}

int lockf64(int, int, off64_t) {
  note("lockf\n");
  return answer();
}

int fcntl(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  return control(fd, command, argument);
}

int fcntl64(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  return control(fd, command, argument);
}

}  // extern "C"
