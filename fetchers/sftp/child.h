// A program whose standard input and output are one socket of ours: how the ssh program carries bytes for us. It has no
// terminal to ask on, and ends with this object. One thread. Throws Error{unavailable} if it cannot be started.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/file.h"

namespace sabath {

class Child {
 public:
  explicit Child(const std::vector<std::string>& argv);  // argv[0] is looked up in PATH
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();

  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  [[nodiscard]] std::vector<std::string> complaints() const;  // the lines of its standard error, escaped
  [[nodiscard]] std::string complaint() const;                // the last of them

 private:
  pid_t pid_ = -1;
  Fd socket_, errors_;
};

}  // namespace sabath
