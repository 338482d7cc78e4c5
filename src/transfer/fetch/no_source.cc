#include "fetch/no_source.h"

#include <fmt/format.h>

#include "base/wording.h"
#include "fetch/hosts/source_key.h"
#include "fetch/known_tree.h"

namespace sabath {

void refuse_without_sources(const Recipe& recipe) {
  if (!recipe.fragments.empty() || recipe.git) return;
  if (recipe.source) {
    throw Error(FailureKind::usage,
                fmt::format("the code of {} is beside its recipe: there is nothing to fetch", recipe.name),
                fmt::format("`{} {}` uses it there", verb_text("run"), recipe.name));
  }
  throw Error(FailureKind::access, fmt::format("{} has no source that a program can read", recipe.name),
              recipe.access.steps.empty() ? fmt::format("see `{}`", verb_text("info")) : "");
}

void name_what_is_here(Store& store, const Recipe& recipe, Failure& failure) {
  const auto learnt = learnt_of(store, recipe);
  const auto manifest = learnt && !learnt->doubt.empty() ? store.manifest(learnt->ref.root) : std::nullopt;
  if (!manifest || !all_present(store, *manifest)) return;
  failure.hint = fmt::format("{} is here whole, but {}: the same command with {} takes it", recipe.name, learnt->doubt,
                             option_text("offline"));
}

}  // namespace sabath
