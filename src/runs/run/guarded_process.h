// A program whose descendants all end with it, and with this process, even if this process is killed.
//
// A guardian, a companion of this library, stands between this process and the program. It is the subreaper of all
// that the program starts, in any group or session, so orphans become its children. It holds one end of a socket; only
// this process has the other. When this process is gone, also by SIGKILL, the guardian reads end of file and kills all.
// When the program ends by itself, the guardian ends its orphans. One thread. Throws Error{command}, Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/companion.h"
#include "base/file.h"

namespace sabath {

struct ProcessSpec {
  std::vector<std::string> argv;         // argv[0] is looked up in the PATH of `environment`
  std::vector<std::string> environment;  // "NAME=value", all of it
  std::filesystem::path directory;
  std::filesystem::path companion;  // find_companion()
  std::uint64_t memory_bytes = 0;   // address space of each of its processes; 0: as this process has it
  bool no_network = false;          // keep it from the network, as well as this machine lets us: see Isolation
};

// What keeps a program from the network.
enum class Isolation : std::int32_t {
  none,       // nothing does: it was not asked for, or this machine has neither of these
  filter,     // the kernel refuses it all sockets but local ones (seccomp)
  own_space,  // a network namespace of its own, where there is no network
};

struct ProcessEnd {
  int exit = 0;    // exit status; of a signal 128 + its number
  int signal = 0;  // 0: it ended by itself
};

class GuardedProcess {
 public:
  explicit GuardedProcess(const ProcessSpec& spec);  // starts it, in a process group of its own, without input
  ~GuardedProcess();                                 // nothing of it is left
  GuardedProcess(const GuardedProcess&) = delete;
  GuardedProcess& operator=(const GuardedProcess&) = delete;

  [[nodiscard]] int out() const noexcept { return out_.get(); }  // to read from; -1 once close_out() was called
  [[nodiscard]] int err() const noexcept { return err_.get(); }
  void close_out() noexcept { out_.reset(); }
  void close_err() noexcept { err_.reset(); }
  [[nodiscard]] int news() const noexcept {
    return guardian_->channel();
  }  // readable when try_end() has something to say
  [[nodiscard]] pid_t guardian() const noexcept { return guardian_->pid(); }

  void signal(int number) noexcept;  // to the program's group
  void end_all() noexcept;           // SIGKILL to all of it
  // How the program ended, once it has. Throws Error{command} if it could not be started.
  [[nodiscard]] std::optional<ProcessEnd> try_end();
  [[nodiscard]] Isolation isolation() const noexcept { return isolation_; }  // known before the end is

 private:
  Fd out_, err_;
  std::unique_ptr<Companion> guardian_;
  std::string program_;
  Isolation isolation_ = Isolation::none;
};

// The request to the guardian, and its answers. After the request, each byte is a signal for the program's group, 0 is
// SIGKILL for all, and the end of the channel means that this process has ended.
struct ProgramToGuard {
  std::string file, directory;  // the latter may be empty
  std::vector<std::string> argv, environment;
  std::uint64_t memory_bytes = 0;  // 0: no bound of its own
  bool no_network = false;

  [[nodiscard]] std::string encode() const;
  [[nodiscard]] static ProgramToGuard parse(std::string_view request);
};

struct GuardianNews {
  enum Kind : std::int32_t { not_started, ended, isolated };
  Kind kind;
  std::int32_t value;  // errno; status of waitpid(2); Isolation, told before the program begins
};

}  // namespace sabath
