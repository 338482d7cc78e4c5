// A TCP relay on a free loopback port: what a slow or breaking path between a client and a real server is to both.
// Three threads for each connection. All functions may be called from any thread. Throws std::runtime_error.
#pragma once

#include <cstdint>
#include <memory>

namespace sabath::test {

class Relay {
 public:
  // Towards the client at most `rate` bytes a second of each connection, 0: as fast as they come.
  Relay(std::uint16_t server_port, std::uint64_t rate);
  ~Relay();
  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] unsigned accepted() const noexcept;  // connections so far
  // From now on each connection is reset once `bytes` bytes went to the client over it; 0: never.
  void reset_after(std::uint64_t bytes);
  void cut();  // every connection is reset now; new ones are accepted as before

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace sabath::test
