#include "trackers/tracker_reader.h"

#include <algorithm>

namespace sabath {

void TrackedRun::set_config(const std::string& name, std::string value) {
  constexpr std::size_t names_max = 10'000;
  const auto found = std::ranges::find(config, name, &std::pair<std::string, std::string>::first);
  if (found != config.end()) {
    found->second = std::move(value);
  } else if (config.size() < names_max) {
    config.emplace_back(name, std::move(value));
  }
}

}  // namespace sabath
