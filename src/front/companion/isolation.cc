#include "companion/isolation.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace sabath::companion {
namespace {

void write_file(const char* name, const char* text) {
  const int fd = ::open(name, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t written = ::write(fd, text, std::strlen(text));
  ::close(fd);
}

// The program keeps its user's and group's number; where the kernel refuses that, it has others, and all its rights.
void keep_numbers(uid_t user, gid_t group) {
  std::array<char, 64> line{};
  write_file("/proc/self/setgroups", "deny");
  std::snprintf(line.data(), line.size(), "%u %u 1", user, user);
  write_file("/proc/self/uid_map", line.data());
  std::snprintf(line.data(), line.size(), "%u %u 1", group, group);
  write_file("/proc/self/gid_map", line.data());
}

#if defined(__x86_64__)
constexpr unsigned this_machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned this_machine = AUDIT_ARCH_AARCH64;
#else
constexpr unsigned this_machine = 0;
#endif

}  // namespace

Isolation leave_network() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0) {
    keep_numbers(user, group);
    return Isolation::own_space;
  }
  if (user == 0 && ::unshare(CLONE_NEWNET) == 0) return Isolation::own_space;
  return refuse_sockets() ? Isolation::filter : Isolation::none;
}

// Refuses other calls of the kernel than this machine's own (whose numbers mean something else), sockets that are not
// local, and io_uring, which would make sockets by itself.
bool refuse_sockets() {
  if (this_machine == 0) return false;
  constexpr unsigned x32_bit = 0x40000000, io_uring_setup = 425;
  constexpr unsigned refused = SECCOMP_RET_ERRNO | EACCES;
  std::array<sock_filter, 11> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, this_machine, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, refused),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, x32_bit, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, io_uring_setup, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, refused),
  }};
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace sabath::companion
