#include "base/spawn.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "base/file.h"

extern char** environ;

namespace sabath {
namespace {

using AddDirectory = int (*)(posix_spawn_file_actions_t*, const char*);
using AddCloseFrom = int (*)(posix_spawn_file_actions_t*, int);

// Functions that are younger than the glibc 2.28 which a program may have been built for, as this machine has them.
template <typename Function>
Function younger(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

AddDirectory add_directory() {  // glibc 2.29
  static const auto function = younger<AddDirectory>("posix_spawn_file_actions_addchdir_np");
  return function;
}

// A standard stream may be closed here: then a new descriptor gets its number, and would be in the stream's way.
Fd above_streams(int fd) {
  Fd high(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!high) throw_errno("keep a descriptor for", "a child process", errno);
  return high;
}

class Actions {
 public:
  explicit Actions(const ChildProcess& child) {
    posix_spawn_file_actions_init(&actions_);
    place(child.in, STDIN_FILENO);
    place(child.out, STDOUT_FILENO);
    place(child.err, STDERR_FILENO);
    // A host's files may be locked, and a lock lasts as long as any process holds the file. Before glibc 2.34 a child
    // gets the files that its host does not close on exec.
    static const auto close_from = younger<AddCloseFrom>("posix_spawn_file_actions_addclosefrom_np");
    // Before its files are closed: the directory may be named by a descriptor.
    if (!child.directory.empty()) error_ = add_directory()(&actions_, child.directory.c_str());
    if (close_from != nullptr) close_from(&actions_, STDERR_FILENO + 1);
  }
  [[nodiscard]] int error() const { return error_; }
  ~Actions() { posix_spawn_file_actions_destroy(&actions_); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  void place(int fd, int stream) {
    if (fd == ChildProcess::nowhere) {
      posix_spawn_file_actions_addopen(&actions_, stream, "/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
      return;
    }
    auto& kept = kept_.at(static_cast<std::size_t>(stream));
    kept = above_streams(fd);
    posix_spawn_file_actions_adddup2(&actions_, kept.get(), stream);
  }

  posix_spawn_file_actions_t actions_{};
  int error_ = 0;
  std::array<Fd, 3> kept_;
};

class Attributes {
 public:
  explicit Attributes(const ChildProcess& child) {
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    const int apart = child.leads_session ? POSIX_SPAWN_SETSID : child.joins_group ? 0 : POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(&attributes_, static_cast<short>(apart | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

// posix_spawn(3) writes to none of them.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

Spawned start(const ChildProcess& child) {
  const Actions actions(child);
  if (actions.error() != 0) return {-1, actions.error()};
  const Attributes attributes(child);
  const auto argv = pointers_to(child.argv);
  std::vector<char*> own;
  if (child.environment) own = pointers_to(*child.environment);
  Spawned spawned;
  spawned.error = ::posix_spawnp(&spawned.pid, child.program.c_str(), actions.get(), attributes.get(), argv.data(),
                                 child.environment ? own.data() : environ);
  return spawned;
}

// errno of executing this file; 0: it can be done.
int why_not_executed(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EACCES;
  return ::access(file.c_str(), X_OK) == 0 ? 0 : errno;
}

std::string_view path_of(const char* const* environment) {
  constexpr std::string_view name = "PATH=";
  for (; *environment != nullptr; ++environment) {
    if (const std::string_view entry = *environment; entry.starts_with(name)) return entry.substr(name.size());
  }
  return "/bin:/usr/bin";
}

// As execvp(3) finds it for a process in `directory`.
int find(const std::filesystem::path& program, const std::filesystem::path& directory, std::filesystem::path& file) {
  if (program.native().find('/') != std::string::npos) {
    file = directory / program;
    return why_not_executed(file);
  }
  int error = ENOENT;
  for (std::string_view left = path_of(environ), entry; !left.empty();
       left.remove_prefix(std::min(entry.size() + 1, left.size()))) {
    entry = left.substr(0, left.find(':'));
    file = directory / entry / program;
    const int why_not = why_not_executed(file);
    if (why_not == 0) return 0;
    if (why_not == EACCES) error = EACCES;
  }
  return error;
}

}  // namespace

Spawned spawn_by_shell(const ChildProcess& child) {
  // The shell starts in any case, so what would fail is asked for first.
  const Fd directory(::open(child.directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory || ::faccessat(AT_FDCWD, child.directory.c_str(), X_OK, AT_EACCESS) != 0) return {-1, errno};
  std::filesystem::path file;
  // The shell has none of this process's descriptors, so a directory that one names goes by its name.
  const bool by_descriptor = child.directory.native().starts_with("/proc/self/fd/");
  const auto here =
      by_descriptor ? std::filesystem::canonical(child.directory) : std::filesystem::absolute(child.directory);
  if (const int why_not = find(child.program, here, file); why_not != 0) return {-1, why_not};
  ChildProcess shell = child;
  shell.program = "/bin/sh";
  shell.directory.clear();
  shell.argv = {"sh", "-c", "cd -- \"$0\" && exec \"$@\"", here, file};
  if (!child.argv.empty()) shell.argv.insert(shell.argv.end(), child.argv.begin() + 1, child.argv.end());
  return start(shell);
}

Spawned spawn(const ChildProcess& child) {
  return child.directory.empty() || add_directory() != nullptr ? start(child) : spawn_by_shell(child);
}

}  // namespace sabath
