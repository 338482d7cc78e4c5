// Limits of the requests to a host, as its owner, a site or a recipe wishes, also where it could bear more. Values.
#pragma once

#include <cstdint>
#include <string>

namespace sabath {

struct HostLimits {
  unsigned connections = 0;  // at once, of all ranks of a job together; 0: as many as help
  std::uint64_t rate = 0;    // bytes a second, of all ranks of a job together; 0: no limit
  friend bool operator==(const HostLimits&, const HostLimits&) = default;
};

struct HostRule {
  std::string host;  // "data.lab", or "*.lab" for all below it; lower case
  HostLimits limits;
  friend bool operator==(const HostRule&, const HostRule&) = default;
};

}  // namespace sabath
