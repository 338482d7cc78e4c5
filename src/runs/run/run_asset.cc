#include "run/run_asset.h"

#include "base/file.h"
#include "base/hash.h"

namespace sabath {
namespace {

constexpr std::uint64_t recipe_file_size_max = 4 << 20;

}  // namespace

std::string digest_of_file(const std::string& file) {
  const auto text = try_read_text(file, recipe_file_size_max);
  return text ? sha256(*text).prefixed() : "";
}

std::vector<RunRecord::Asset> recorded(const std::vector<RunAsset>& assets) {
  std::vector<RunRecord::Asset> all;
  for (const RunAsset& asset : assets)
    all.push_back({asset.name, std::string(kind_name(asset.kind)), asset.manifest, asset.verified_by, asset.path,
                   asset.warm, asset.lineage, asset.loads, asset.role});
  return all;
}

RunRecord::Recipe recorded(const Recipe& recipe) {
  return {recipe.name, recipe.version, digest_of_file(recipe.origin)};
}

std::optional<RunRecord::Source> recorded_source(const std::vector<RunAsset>& assets, const Recipe& recipe) {
  for (const RunAsset& asset : assets) {
    if (!is_code(asset.kind) || !asset.role.empty()) continue;
    return RunRecord::Source{asset.commit, recipe.git ? recipe.git->origin : "", asset.manifest};
  }
  return std::nullopt;
}

}  // namespace sabath
