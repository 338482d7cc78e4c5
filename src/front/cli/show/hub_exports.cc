#include "cli/show/hub_exports.h"

#include <fmt/format.h>

#include "run/commands.h"

namespace sabath::cli {

std::string hub_exports(const std::filesystem::path& cache) {
  return fmt::format("export HF_HUB_CACHE={} HF_HUB_OFFLINE=1", shell_line({cache.native()}));
}

}  // namespace sabath::cli
