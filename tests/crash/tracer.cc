#include "tracer.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <map>
#include <set>
#include <system_error>

namespace sabath::crash {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_with(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

fs::path link_target(const fs::path& link) {
  std::error_code error;
  return fs::read_symlink(link, error);
}

// In the child, after fork(2): what fails here is seen as its exit code.
void install_filter(const std::vector<long>& numbers) {
  std::vector<sock_filter> code{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long number : numbers) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
    std::perror("seccomp");
    ::_exit(77);
  }
}

pid_t start(const std::vector<std::string>& command, const std::vector<long>& numbers) {
  std::vector<std::string> words = command;
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) fail_with("fork");
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) {
      std::perror("ptrace");
      ::_exit(77);
    }
    ::raise(SIGSTOP);
    install_filter(numbers);
    ::execvp(argv[0], argv.data());
    std::perror(argv[0]);
    ::_exit(127);
  }
  return child;
}

#ifdef __x86_64__
void replace_result(pid_t thread, std::int64_t result) {
  user_regs_struct registers{};
  if (::ptrace(PTRACE_GETREGS, thread, nullptr, &registers) != 0) fail_with("PTRACE_GETREGS");
  registers.orig_rax = static_cast<unsigned long long>(-1);
  registers.rax = static_cast<unsigned long long>(result);
  if (::ptrace(PTRACE_SETREGS, thread, nullptr, &registers) != 0) fail_with("PTRACE_SETREGS");
}
void replace_third_argument(pid_t thread, std::uint64_t value) {
  user_regs_struct registers{};
  if (::ptrace(PTRACE_GETREGS, thread, nullptr, &registers) != 0) fail_with("PTRACE_GETREGS");
  registers.rdx = value;
  if (::ptrace(PTRACE_SETREGS, thread, nullptr, &registers) != 0) fail_with("PTRACE_SETREGS");
}
#else  // aarch64
user_regs_struct registers_of(pid_t thread) {
  user_regs_struct registers{};
  iovec part{&registers, sizeof registers};
  if (::ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &part) != 0) fail_with("PTRACE_GETREGSET");
  return registers;
}
void set_registers(pid_t thread, user_regs_struct& registers) {
  iovec part{&registers, sizeof registers};
  if (::ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &part) != 0) fail_with("PTRACE_SETREGSET");
}
void replace_result(pid_t thread, std::int64_t result) {
  int none = -1;
  iovec part{&none, sizeof none};
  if (::ptrace(PTRACE_SETREGSET, thread, NT_ARM_SYSTEM_CALL, &part) != 0) fail_with("PTRACE_SETREGSET");
  auto registers = registers_of(thread);
  registers.regs[0] = static_cast<unsigned long long>(result);
  set_registers(thread, registers);
}
void replace_third_argument(pid_t thread, std::uint64_t value) {
  auto registers = registers_of(thread);
  registers.regs[2] = value;
  set_registers(thread, registers);
}
#endif

__ptrace_syscall_info info_of(pid_t thread) {
  __ptrace_syscall_info info{};
  if (::ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0) fail_with("PTRACE_GET_SYSCALL_INFO");
  return info;
}

class Run {
 public:
  Run(pid_t main, const Hooks& hooks) : main_(main), hooks_(hooks) {}

  int until_all_have_ended() {
    int result = 0;
    for (;;) {
      int status = 0;
      const pid_t thread = ::waitpid(-1, &status, __WALL);
      if (thread < 0 && errno == EINTR) continue;
      if (thread < 0) return result;  // ECHILD: all have ended
      if (!WIFSTOPPED(status)) {
        if (thread == main_) result = status;
        waiting_.erase(thread);
        continue;
      }
      answer(thread, status);
    }
  }

 private:
  void answer(pid_t thread, int status) {
    const int event = status >> 16, signal = WSTOPSIG(status);
    const bool is_new = seen_.insert(thread).second;
    Then then = Then::go_on;
    if (event == PTRACE_EVENT_SECCOMP) {
      then = at_entry(thread);
    } else if (signal == (SIGTRAP | 0x80)) {
      then = at_return(thread);
    } else if (event == 0 && !(is_new && signal == SIGSTOP)) {
      go_on(PTRACE_CONT, thread, signal);  // a signal of its own
      return;
    }
    if (then == Then::kill) ::kill(main_, SIGKILL);
    go_on(then == Then::look_again ? PTRACE_SYSCALL : PTRACE_CONT, thread, 0);
  }

  static void go_on(__ptrace_request how, pid_t thread, int signal) {
    ::ptrace(how, thread, nullptr, signal);  // ESRCH: it was killed meanwhile
  }

  Then at_entry(pid_t thread) {
    const auto info = info_of(thread);
    const Call* call = find_call(static_cast<long>(info.seccomp.nr));
    if (call == nullptr) return Then::go_on;
    std::array<std::uint64_t, 6> arguments{};
    std::ranges::copy(info.seccomp.args, arguments.begin());
    const Stopped stopped(thread, *call, arguments);
    const Then then = hooks_.before(stopped);
    if (then == Then::look_again) waiting_.insert_or_assign(thread, stopped);
    return then;
  }

  Then at_return(pid_t thread) {
    const auto found = waiting_.find(thread);
    if (found == waiting_.end()) return Then::go_on;
    const Stopped stopped = found->second;
    waiting_.erase(found);
    return hooks_.after(stopped, info_of(thread).exit.rval);
  }

  const pid_t main_;
  const Hooks& hooks_;
  std::set<pid_t> seen_;
  std::map<pid_t, Stopped> waiting_;
};

}  // namespace

fs::path Stopped::open_file(int descriptor) const {
  return fs::path("/proc") / std::to_string(thread_) / "fd" / std::to_string(descriptor);
}

fs::path Stopped::path(const Place& place) const {
  const auto directory = [&]() -> fs::path {
    const int descriptor = place.directory < 0 ? AT_FDCWD : static_cast<int>(argument(place.directory));
    if (descriptor == AT_FDCWD) return link_target(fs::path("/proc") / std::to_string(thread_) / "cwd");
    return link_target(open_file(descriptor));
  };
  if (place.path < 0) return directory();
  const std::uint64_t address = argument(place.path);
  const fs::path named = address == 0 ? fs::path() : fs::path(text(address));
  if (named.is_absolute()) return named.lexically_normal();
  return named.empty() ? directory() : (directory() / named).lexically_normal();
}

std::string Stopped::bytes(std::uint64_t address, std::size_t size) const {
  std::string result(size, '\0');
  const iovec here{result.data(), size};
  const iovec there{reinterpret_cast<void*>(address), size};  // an address of the other process
  const ssize_t n = ::process_vm_readv(thread_, &here, 1, &there, 1, 0);
  result.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
  return result;
}

std::string Stopped::text(std::uint64_t address) const {
  constexpr std::size_t page = 4096;
  std::string result;
  while (result.size() < PATH_MAX) {
    const std::string more = bytes(address + result.size(), page - (address + result.size()) % page);
    const auto end = more.find('\0');
    result += more.substr(0, end);
    if (more.empty() || end != std::string::npos) break;
  }
  return result;
}

void Stopped::fail(int error) const { replace_result(thread_, -error); }
void Stopped::shorten(std::uint64_t length) const { replace_third_argument(thread_, length); }

int run_traced(const std::vector<std::string>& command, const std::vector<long>& numbers, const Hooks& hooks) {
  const pid_t child = start(command, numbers);
  int status = 0;
  if (::waitpid(child, &status, 0) != child) fail_with("waitpid");
  if (!WIFSTOPPED(status)) return status;
  constexpr long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
                           PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;
  if (::ptrace(PTRACE_SETOPTIONS, child, nullptr, options) != 0) fail_with("PTRACE_SETOPTIONS");
  ::ptrace(PTRACE_CONT, child, nullptr, 0);
  return Run(child, hooks).until_all_have_ended();
}

}  // namespace sabath::crash
