// The speed of earlier fetches, by the store's own log: the basis of a plan's time. Pure but for reading records/. One
// thread. Throws nothing but std::bad_alloc: a log that cannot be read says nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace sabath {

struct RateSample {
  std::set<std::string> origins;  // "https://host:port"
  double bytes_per_second = 0;
  std::int64_t time_s = 0;
};

struct Rate {
  double usual = 0, best = 0;  // bytes a second: the median, and the highest
  std::size_t samples = 0;
};

// One line of the log; nullopt if it says nothing of a rate: nothing or little moved, or it failed.
[[nodiscard]] std::optional<RateSample> try_parse_rate(std::string_view json_line);

// Of the newest samples that came from one of these origins. Pure.
[[nodiscard]] std::optional<Rate> rate_of(std::vector<RateSample> samples, const std::set<std::string>& origins);

// The newest files of the log, a bounded part.
[[nodiscard]] std::vector<RateSample> read_rates(const Store& store);

}  // namespace sabath
