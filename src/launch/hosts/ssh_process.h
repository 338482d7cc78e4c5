// The program ssh with its three streams. It ends with this object. One thread. Throws Error{command} if it cannot be
// started.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "hosts/login.h"
#include "sabath/environment.h"

namespace sabath {

class SshProcess {
 public:
  SshProcess(const HostLogin& login, const Environment& environment);
  ~SshProcess();
  SshProcess(const SshProcess&) = delete;
  SshProcess& operator=(const SshProcess&) = delete;

  // Waits until a stream has something, or the time is over, then moves what can be moved. What is to be sent loses
  // what went; what was read is appended. False: both streams of the program have ended, or it has.
  bool move(std::string_view& to_send, std::string& out, std::string& err, std::chrono::milliseconds wait);
  void hang_up();  // no more is sent
  // 128 + signal where one ended it. Waits some seconds, then ends it.
  [[nodiscard]] int end();
  void kill() noexcept;

 private:
  [[nodiscard]] bool has_ended();
  void signal(int number) const noexcept;

  pid_t pid_ = -1;
  bool leads_group_ = true;
  std::optional<int> status_;
  Fd in_, out_, err_;
};

}  // namespace sabath
