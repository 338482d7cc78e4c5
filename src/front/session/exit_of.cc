#include "session/exit_of.h"

#include <set>

namespace sabath {

int exit_of(const std::vector<AssetRecord>& assets) {
  std::set<int> codes;
  bool some_done = false;
  for (const auto& asset : assets) {
    some_done = some_done || asset.files > 0;
    for (const auto& failure : asset.failures) codes.insert(exit_code(failure.failure.kind));
  }
  for (const int stopping : {130, 143, 5, 70}) {
    if (codes.contains(stopping)) return stopping;
  }
  if (codes.empty()) return 0;
  if (codes.size() == 1) return *codes.begin();
  return some_done ? exit_code(FailureKind::partial) : *codes.rbegin();
}

}  // namespace sabath
