// Counts reused content by level, where it is reported. Any thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <variant>

#include "sabath/event.h"

namespace sabath {

class ReuseMeter {
 public:
  void on(const Event& event) {
    if (const auto* reused = std::get_if<event::BytesReused>(&event)) {
      bytes_[static_cast<std::size_t>(reused->level)] += reused->bytes;
    }
  }
  [[nodiscard]] ReusedBytes bytes() const {
    ReusedBytes bytes{};
    std::copy(bytes_.begin(), bytes_.end(), bytes.begin());
    return bytes;
  }

 private:
  std::array<std::atomic<std::uint64_t>, std::tuple_size_v<ReusedBytes>> bytes_{};
};

}  // namespace sabath
