#include "base/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/file.h"

extern char** environ;

namespace sabath {
namespace {

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
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
#endif
    if (!child.directory.empty()) posix_spawn_file_actions_addchdir_np(&actions_, child.directory.c_str());
  }
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
  std::array<Fd, 3> kept_;
};

class Attributes {
 public:
  explicit Attributes(bool leads_session) {
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    const int apart = leads_session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
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

}  // namespace

Spawned spawn(const ChildProcess& child) {
  const Actions actions(child);
  const Attributes attributes(child.leads_session);
  const auto argv = pointers_to(child.argv);
  std::vector<char*> own;
  if (child.environment) own = pointers_to(*child.environment);
  Spawned spawned;
  spawned.error = ::posix_spawnp(&spawned.pid, child.program.c_str(), actions.get(), attributes.get(), argv.data(),
                                 child.environment ? own.data() : environ);
  return spawned;
}

}  // namespace sabath
