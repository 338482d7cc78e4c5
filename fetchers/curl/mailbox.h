// Passes the words of a transfer from the thread that drives it to the thread that waits for it: a Receiver may take
// its time without holding up the other streams of a connection. Bounded; two threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>

#include "curl/transport.h"

namespace sabath {

class Mailbox final : public Receiver {
 public:
  explicit Mailbox(Receiver& receiver) : receiver_(receiver) {}

  // On the thread that drives:
  void connecting() override;
  void connected(const Connected& connection) override;  // heard at once, because it may forbid the request
  void header(std::string_view line) override;
  [[nodiscard]] bool body(std::span<const std::byte> bytes) override;
  [[nodiscard]] bool has_room();
  void end();  // nothing more comes; the transfer is not used any more

  // On the thread that waits: hands everything to the receiver until end() was called; calls `taken` each time there is
  // room again. If the receiver throws, or has enough, `cancel` is called, and this returns (or throws that) only
  // after end() all the same.
  void deliver(const std::function<void()>& taken, const std::function<void()>& cancel);
  [[nodiscard]] bool has_enough() const { return enough_; }
  [[nodiscard]] bool nothing_heard() const { return nothing_heard_; }

 private:
  struct Word {
    bool head = false;
    std::string text;
  };
  void hear(std::deque<Word> words);

  Receiver& receiver_;
  std::mutex hearing_;  // held while the receiver hears something
  bool enough_ = false, nothing_heard_ = true;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Word> words_;
  std::size_t held_ = 0;  // bytes of words_
  bool full_ = false, ended_ = false;
};

}  // namespace sabath
