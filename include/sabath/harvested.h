// What the files of an asset in the store say of themselves (docs/metadata.md): for people who look, never trusted.
#pragma once

#include <string>
#include <vector>

namespace sabath {

struct Harvested {
  std::vector<std::string> files;  // that were looked into
  std::vector<std::string> facts;  // "seed9=12109763"
};

}  // namespace sabath
