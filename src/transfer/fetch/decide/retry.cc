#include "fetch/decide/retry.h"

#include <algorithm>
#include <cmath>

namespace sabath {

Verdict verdict(FailureKind kind) noexcept {
  switch (kind) {
    case FailureKind::network:
    case FailureKind::changed:
    case FailureKind::no_ranges:
      return Verdict::again;
    case FailureKind::unavailable:
    case FailureKind::access:
    case FailureKind::content:
    case FailureKind::invalid:
      return Verdict::give_up;
    default:
      return Verdict::fatal;
  }
}

bool asks_for_later(const Failure& failure) noexcept {
  return failure.retry_after.value_or(std::chrono::milliseconds(0)) > asked_pause_max;
}

std::chrono::milliseconds pause_after(unsigned failures, std::optional<std::chrono::milliseconds> asked,
                                      double jitter) {
  const double base = std::min(30'000.0, 200.0 * std::pow(3.0, failures == 0 ? 0 : failures - 1));
  const std::chrono::milliseconds own(static_cast<std::int64_t>(base * (0.75 + 0.5 * jitter)));
  return std::max(own, std::min(asked.value_or(own), asked_pause_max));
}

std::optional<std::size_t> choose_mirror(std::span<const MirrorState> mirrors) noexcept {
  std::optional<std::size_t> best;
  const auto better = [&](const MirrorState& a, const MirrorState& b) {
    if ((a.failures == 0) != (b.failures == 0)) return a.failures == 0;
    const bool a_new = a.rate == 0, b_new = b.rate == 0;
    if (a_new != b_new) return a_new ? a.lanes == 0 : b.lanes > 0;
    if (a_new) return a.lanes < b.lanes;
    return a.rate / (1.0 + a.lanes) > b.rate / (1.0 + b.lanes);
  };
  for (std::size_t i = 0; i < mirrors.size(); ++i) {
    if (mirrors[i].dead || !mirrors[i].ready) continue;
    if (!best || better(mirrors[i], mirrors[*best])) best = i;
  }
  return best;
}

bool tells_more(const Failure& a, const Failure& b) noexcept {
  const auto weight = [](FailureKind kind) {
    switch (kind) {
      case FailureKind::content:
        return 5;
      case FailureKind::invalid:
        return 4;
      case FailureKind::access:
        return 3;
      case FailureKind::unavailable:
        return 2;
      default:
        return 1;
    }
  };
  return weight(a.kind) > weight(b.kind);
}

}  // namespace sabath
