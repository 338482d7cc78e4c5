#include "sabath/dealing.h"

#include "sabath/error.h"
#include "stage/plan/deal.h"

namespace sabath {

std::vector<std::uint32_t> deal(const std::vector<std::string>& paths, std::uint64_t seed, std::uint32_t shares) {
  if (shares == 0) throw Error(FailureKind::usage, "there are no shares to deal to", "at least one is needed");
  std::vector<StagedFile> files;
  files.reserve(paths.size());
  for (const std::string& path : paths) files.push_back({{}, path});
  return shard::deal(files, seed, shares);
}

}  // namespace sabath
