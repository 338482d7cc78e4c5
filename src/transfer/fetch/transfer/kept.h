// The bytes of one file that an earlier try left, as the display hears of them while they may still be thrown away. A
// transfer owns it. It takes them back at its end, or by set(0) before event::BytesReused says the same for good. One
// thread.
#pragma once

#include <cstdint>

#include "sabath/event.h"

namespace sabath {

class Kept {
 public:
  explicit Kept(EventSink& events) : events_(events) {}
  ~Kept() { set(0); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  void set(std::uint64_t bytes) {
    if (bytes == told_) return;
    events_.on(event::BytesKept{static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(told_)});
    told_ = bytes;
  }

 private:
  EventSink& events_;
  std::uint64_t told_ = 0;
};

}  // namespace sabath
