// The bytes of one conversation with an SFTP server, over a socket or a child process. One thread at a time; each call
// names the Waiter of the read that it belongs to. Throws Error{network}, Error{interrupted}.
#pragma once

#include <cstddef>
#include <span>

#include "sftp/waiter.h"

namespace sabath {

class Stream {
 public:
  virtual ~Stream() = default;
  [[nodiscard]] virtual std::size_t read_some(std::span<std::byte> bytes,
                                              const Waiter& waiter) = 0;  // 0: it was closed
  virtual void write_all(std::span<const std::byte> bytes, const Waiter& waiter) = 0;
};

}  // namespace sabath
