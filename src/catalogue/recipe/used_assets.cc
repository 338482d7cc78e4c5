// Which assets a recipe means by the names in it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/wording.h"
#include "recipe/catalogue.h"
#include "sabath/error.h"

namespace sabath {

// A model of a subscribed catalogue means the datasets of that catalogue first.
std::optional<Recipe> Catalogue::try_beside(const Recipe& model, const std::string& name,
                                            std::optional<AssetKind> kind) const {
  const auto file = std::ranges::find(files_, std::filesystem::path(model.origin), &File::path);
  if (file == files_.end() || file->catalogue.empty()) return std::nullopt;
  auto asset = find_subscribed(fmt::format("{}/{}", file->catalogue, name), kind);
  if (asset) note_namer(*asset);
  return asset;
}

Recipe Catalogue::used_by(const Recipe& model, const std::string& name) const {
  auto beside = try_beside(model, name, std::nullopt);
  return beside ? std::move(*beside) : find(name, std::nullopt);
}

std::optional<Recipe> Catalogue::dataset_of(const Recipe& model, const RunSets& sets) const {
  if (!model.default_dataset.empty()) {
    if (auto beside = try_beside(model, model.default_dataset, AssetKind::dataset)) return beside;
    if (auto known = try_find(model.default_dataset, AssetKind::dataset)) return known;
    throw Error(FailureKind::not_found,
                fmt::format("{} runs on {}, of which no recipe is known here", model.name, model.default_dataset),
                model.access.steps.empty() ? fmt::format("name another dataset; `{}` shows those that it can run on",
                                                         verb_text("info") + " " + model.name)
                                           : model.access.steps.front());
  }
  for (const auto& [name, steps] : sets) {
    if (auto beside = try_beside(model, name, AssetKind::dataset)) return beside;
    if (auto dataset = try_find(name, AssetKind::dataset)) return dataset;
  }
  const std::string plain = model.name.substr(model.name.rfind('/') + 1);
  if (auto beside = try_beside(model, plain, AssetKind::dataset)) return beside;
  return try_find(model.name, AssetKind::dataset);
}

}  // namespace sabath
