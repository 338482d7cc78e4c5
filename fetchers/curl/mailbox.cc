#include "curl/mailbox.h"

#include <chrono>
#include <utility>

namespace sabath {
namespace {

constexpr std::size_t worth_hearing = 256 * 1024;           // this is handed over before the end of the transfer ...
constexpr std::chrono::milliseconds look_again_after{100};  // ... and after this time, what there is
constexpr std::size_t held_max = 4 * 1024 * 1024;

}  // namespace

void Mailbox::connecting() {
  const std::lock_guard lock(hearing_);
  receiver_.connecting();
}

void Mailbox::connected(const Connected& connection) {
  const std::lock_guard lock(hearing_);
  receiver_.connected(connection);
}

void Mailbox::header(std::string_view line) {
  const std::lock_guard lock(mutex_);
  words_.push_back({true, std::string(line)});
  held_ += line.size();
}

bool Mailbox::body(std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  if (words_.empty() || words_.back().head) words_.emplace_back();
  words_.back().text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  held_ += bytes.size();
  if (held_ >= worth_hearing) changed_.notify_all();
  return true;
}

bool Mailbox::has_room() {
  const std::lock_guard lock(mutex_);
  full_ = held_ >= held_max;
  return !full_;
}

void Mailbox::end() {
  const std::lock_guard lock(mutex_);  // held, because the other thread may destroy this as soon as it sees the end
  ended_ = true;
  changed_.notify_all();
}

void Mailbox::deliver(const std::function<void()>& taken, const std::function<void()>& cancel) {
  const auto wait_for_end = [&] {
    cancel();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_; });
  };
  for (bool last = false; !last;) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, look_again_after, [&] { return ended_ || held_ >= worth_hearing; });
    last = ended_;
    auto words = std::exchange(words_, {});
    held_ = 0;
    const bool was_full = std::exchange(full_, false);
    lock.unlock();
    if (was_full) taken();
    try {
      hear(std::move(words));
    } catch (...) {
      wait_for_end();
      throw;
    }
    if (enough_) return wait_for_end();
  }
}

void Mailbox::hear(std::deque<Word> words) {
  const std::lock_guard lock(hearing_);
  for (const Word& word : words) {
    nothing_heard_ = false;
    if (word.head) {
      receiver_.header(word.text);
    } else if (!receiver_.body(std::as_bytes(std::span(word.text)))) {
      enough_ = true;
      return;
    }
  }
}

}  // namespace sabath
