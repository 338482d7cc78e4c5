// A pipe between processes, and what waits in a stream. Any thread. Pipe() throws Error{storage}.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "base/file.h"

namespace sabath {

struct Pipe {
  Fd read, write;
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("make a pipe", "", errno);
    read = Fd(ends[0]);
    write = Fd(ends[1]);
  }
};

// Gives the bytes that wait, 64 KiB at most, to `take`; false at the end of the stream.
template <typename Take>
[[nodiscard]] bool read_waiting(int fd, const Take& take) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (got > 0) take(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
  return got > 0;
}

// The same into `text`, of which the first `max` bytes are kept.
[[nodiscard]] inline bool read_waiting(int fd, std::string& text, std::size_t max = std::string::npos) {
  return read_waiting(fd, [&](std::string_view bytes) { text.append(bytes.substr(0, max - text.size())); });
}

}  // namespace sabath
