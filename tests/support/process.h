// Child processes of tests: started without a shell, ended by their own id. Throws std::runtime_error.
#pragma once

#include <netinet/in.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sabath::test {

// A program in a process group of its own. When the object goes, the whole group gets SIGTERM, and SIGKILL if it
// lingers.
class ChildProcess {
 public:
  // Output goes to `log`. argv[0] is searched in PATH and the sbin directories.
  ChildProcess(const std::vector<std::string>& argv, const std::filesystem::path& log);
  ~ChildProcess() { stop(); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] bool running();
  void kill();  // SIGKILL to it and its descendants, and waits: as a crash
  void stop();
  [[nodiscard]] int wait();  // exit code, 128 + signal

 private:
  void reap(bool block);
  pid_t pid_ = -1;
  int exit_code_ = -1;
};

// The program's full name, empty if this machine does not have it.
[[nodiscard]] std::string find_program(const std::string& name);

[[nodiscard]] sockaddr_in loopback_address(std::uint16_t port);

inline constexpr const char* python = "/usr/bin/python3";  // the system's: it has the Debian packages
// argv of a script of the tests; `name` is its path below tests/.
[[nodiscard]] std::vector<std::string> script(const std::string& name, const std::vector<std::string>& arguments);

// Polls until `ready` or the deadline; false if it never was.
[[nodiscard]] bool wait_until(const std::function<bool()>& ready,
                              std::chrono::milliseconds limit = std::chrono::seconds(120));

// On 127.0.0.1, free a moment ago; below the ports that the kernel gives out by itself, so that it is likely to be free
// still when a server has started.
[[nodiscard]] std::uint16_t free_port();
[[nodiscard]] bool accepts(std::uint16_t port);  // a process listens on 127.0.0.1

struct ServerProcess {
  std::unique_ptr<ChildProcess> child;
  std::uint16_t port = 0;
};
// Starts the program that `prepare` returns for a free port, and waits until it listens there; tries another port if
// another process was faster. Throws with the text of `log` if it does not come up.
[[nodiscard]] ServerProcess start_server(const std::function<std::vector<std::string>(std::uint16_t)>& prepare,
                                         const std::filesystem::path& log);

}  // namespace sabath::test
