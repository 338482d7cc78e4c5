// A small HTTP/1.1 server that misbehaves on request, the same way every time. The path chooses the fault (the table
// is in fault_behaviours.cc), ?size= and ?seed= choose the body (support/seeded.h), ?times= how many requests of a path
// meet its fault before all is well. It counts what it was asked and what it sent. In-process for gtest; as the
// program sabath-fault-server for tests in other languages.
//
// Threads: one accepts, one for each connection. All functions may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::test {

struct FaultCount {
  std::uint64_t requests = 0;
  std::uint64_t body_bytes = 0;  // handed to the kernel: of a connection that broke, the client may have got fewer
};

class FaultServer {
 public:
  explicit FaultServer(std::uint16_t port = 0);  // 0: a free one. Throws std::runtime_error
  ~FaultServer();
  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] std::string url(std::string_view target) const;  // target begins with '/'
  [[nodiscard]] FaultCount count(const std::string& path) const;
  [[nodiscard]] FaultCount total() const;
  [[nodiscard]] std::vector<std::string> heads(const std::string& path) const;  // as the client sent them

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace sabath::test
