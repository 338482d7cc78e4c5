// One connection of the fault server: a request as values, and the means to answer it badly. Owned by its thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::test {

struct FaultRequest {
  std::string path;                                              // without query
  std::map<std::string, std::string> query;                      // percent-decoded
  std::string head;                                              // whole, as received
  std::optional<std::pair<std::uint64_t, std::uint64_t>> range;  // first, last; last is UINT64_MAX when open
  std::uint64_t number = 0;                                      // 1 for the first request of this path

  [[nodiscard]] std::uint64_t value(const std::string& key, std::uint64_t absent) const;
  [[nodiscard]] std::string text(const std::string& key, const std::string& absent) const;
};

class FaultConnection {
 public:
  FaultConnection(int fd, std::function<void(const std::string&, std::uint64_t)> on_body);
  [[nodiscard]] std::optional<FaultRequest> read_request();  // nullopt: the client has left
  [[nodiscard]] bool open() const noexcept { return open_; }

  void send_head(std::string_view status, std::string_view fields = {});  // fields end in \r\n each
  void send_text(std::string_view text, bool counted);
  void count(std::uint64_t bytes) { on_body_(path_, bytes); }                           // of body, that went uncounted
  void send_body(const FaultRequest& request, std::uint64_t first, std::uint64_t end);  // seeded bytes [first, end)
  void pause(std::uint64_t milliseconds);
  void wait_until_arrived();                // the client's kernel has all that was sent
  void close() noexcept { open_ = false; }  // after this answer, by FIN
  void reset() noexcept;                    // now, by RST
  void wait_for_client_to_leave();

 private:
  int fd_;
  bool open_ = true;
  std::string path_, unread_;
  std::function<void(const std::string&, std::uint64_t)> on_body_;
};

// Answers one request as its path says.
void answer(FaultConnection& connection, const FaultRequest& request);

}  // namespace sabath::test
