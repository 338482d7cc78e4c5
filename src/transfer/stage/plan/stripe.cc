#include "stage/plan/stripe.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace sabath::stripe {

std::vector<std::uint32_t> deal(std::span<const std::uint64_t> sizes, std::span<const std::uint64_t> rooms) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return sizes[i]; });
  std::vector<std::uint32_t> disk(sizes.size());
  std::vector<std::uint64_t> filled(rooms.size());
  for (const std::size_t i : order) {
    const auto part = [&](std::uint32_t d) {
      return static_cast<long double>(filled[d] + sizes[i]) /
             static_cast<long double>(std::max<std::uint64_t>(rooms[d], 1));
    };
    for (std::uint32_t d = 1; d < rooms.size(); ++d) {
      if (part(d) < part(disk[i])) disk[i] = d;
    }
    filled[disk[i]] += sizes[i];
  }
  return disk;
}

}  // namespace sabath::stripe
