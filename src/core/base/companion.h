// A process of the program `sabath` that works for this library. It does work that must not run in a host's process,
// which has its own threads, locks and HDF5. So the library itself never forks, and never calls HDF5.
//
// The library starts `sabath --as ROLE WORDING` (base/wording.h) and talks with it over a socket, which is the
// companion's standard input; src/front/companion is the other end. The companion first sends its version: the library
// refuses another one. The host's signals, umask, directory and streams stay as they are. Any thread. Throws
// Error{command} if no companion answers.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/file.h"

namespace sabath {

// `named`; if that is empty, the `sabath` that lies beside this library, or beside the program that holds it.
[[nodiscard]] std::filesystem::path find_companion(const std::filesystem::path& named);

class Companion {
 public:
  struct Streams {
    int out = -1, err = -1;  // -1: nowhere; of `err` the first 4 KiB are kept then, see complaint()
  };
  Companion(const std::filesystem::path& program, std::string_view role, const Streams& streams,
            const std::stop_token& stop);
  ~Companion();  // hangs up, and waits until the companion has ended
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

  [[nodiscard]] int channel() const noexcept { return channel_.get(); }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void kill() noexcept;
  // Hangs up, and kills it if it has not ended within `patience`, also where it was stopped meanwhile.
  void end_within(std::chrono::milliseconds patience) noexcept;
  // Hangs up. The status of waitpid(2); nullopt: another part of this process got it, as it waits for all children.
  std::optional<int> wait() noexcept;
  [[nodiscard]] std::string complaint() const;  // what it wrote to `err`, where that has no other reader; raw bytes

 private:
  void hang_up() noexcept;
  void await_greeting(const std::filesystem::path& program, const std::stop_token& stop) const;

  Fd channel_, complaints_;
  pid_t pid_ = 0;
};

// The first bytes that a companion sends.
inline constexpr std::string_view companion_greeting = "sabath " SABATH_VERSION ", companion 4\n";

inline constexpr std::uint64_t request_bytes_max = 64 << 20;  // a program's arguments and environment take much less

// One message: its length and its bytes. If the reader has gone it throws Error{command}, with no SIGPIPE.
void send_message(int channel, std::string_view bytes);
// nullopt: the other end has gone before its end. Throws Error{invalid} for a longer message, Error{interrupted}.
[[nodiscard]] std::optional<std::string> receive_message(int channel, std::uint64_t bytes_max,
                                                         const std::stop_token& stop = {});

}  // namespace sabath
