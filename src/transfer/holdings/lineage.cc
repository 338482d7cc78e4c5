#include "holdings/lineage.h"

#include <algorithm>

#include "recipe/supporting.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t steps_max = 64;  // recipes could name each other in a circle

std::optional<Recipe> recipe_of_input(const Catalogue& catalogue, const DerivationStep& step) {
  try {
    auto recipe = catalogue.try_find(step.from, std::nullopt);
    const bool same = recipe && recipe->manifest && recipe->manifest->digest == step.input;
    return same ? std::move(recipe) : std::nullopt;
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::invalid) throw;
    return std::nullopt;
  }
}

std::optional<DerivationStep> noted_step(const Store& store, const Sha256& root) {
  const auto manifest = store.manifest(root);
  return manifest ? derivation_in(manifest->note()) : std::nullopt;
}

}  // namespace

std::vector<DerivationStep> lineage_of(const Catalogue& catalogue, const Recipe& recipe, const Store* store) {
  std::vector<DerivationStep> steps;
  std::optional<DerivationStep> next = recipe.derived;
  // A step that changed nothing has the root of its input, whose note then names that step.
  const auto is_new = [&](const DerivationStep& step) {
    return std::ranges::find(steps, step.key, &DerivationStep::key) == steps.end();
  };
  while (next && steps.size() < steps_max && is_new(*next)) {
    steps.push_back(*next);
    const auto input = recipe_of_input(catalogue, *next);
    next = input ? input->derived : store != nullptr ? noted_step(*store, steps.back().input) : std::nullopt;
  }
  return steps;
}

std::optional<Recipe> origin_of(const Catalogue& catalogue, const Recipe& recipe) {
  const auto steps = lineage_of(catalogue, recipe, nullptr);
  return steps.empty() ? std::nullopt : catalogue.try_find(steps.back().from, AssetKind::dataset);
}

}  // namespace sabath
