#include "fetch/fragments.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fetch/fragment_part.h"
#include "fetch/hosts/source_key.h"
#include "fetch/known_tree.h"

namespace sabath {
namespace {

std::string untrusted(const std::vector<ForeignRef>& refs) {
  std::set<std::uint32_t> owners;
  for (const auto& ref : refs) owners.insert(ref.owner);
  return fmt::format(
      "another member (uid {}) has this and is not trusted: to believe what that member learnt, put \"{}\" into "
      "`trusted_owners` of the configuration",
      fmt::join(owners, ", "), fmt::join(owners, "\", \""));
}

class FragmentFetch {
 public:
  FragmentFetch(FetchContext& context, const Recipe& recipe, const Manifest* expected, AssetRequest& request)
      : choices_(recipe, request,
                 {.store = &context.store,
                  .fetchers = &context.fetchers,
                  .rewrites = context.rewrites,
                  .force = context.force,
                  .expected = expected}),
        scope_{.context = context, .recipe = recipe, .request = request, .choices = choices_} {}

  FetchedFragments run(ManifestBuilder& asset) {
    for (const Fragment* fragment : choices_.chosen()) begin(*fragment, asset);
    fetch_parts();
    for (auto& part : parts_) part->settle(asset);
    return {std::move(scope_.failures), scope_.files_done, std::move(scope_.trusted_by), std::move(scope_.resolved)};
  }

 private:
  void begin(const Fragment& fragment, ManifestBuilder& asset) {
    std::optional<LocalFile> local;
    auto& locals = scope_.request.locals;
    if (!locals.empty()) {
      local = std::move(locals.front());
      locals.pop_front();
    }
    FragmentChoice choice = choices_.of(fragment, local.has_value());
    if (reuse(choice, asset)) return;
    if (!local && choices_.believes_learnt() && !choice.learnt) name_those_who_know(fragment);
    if (choice.before && !all_present(scope_.context.store, *choice.before)) choice.ask_for_content();
    parts_.push_back(make_part(scope_, std::move(choice), std::move(local)));
    parts_.back()->prepare();
  }

  // A fragment whose tree was learnt before, by this or another asset, and whose objects are all here.
  bool reuse(const FragmentChoice& choice, ManifestBuilder& asset) {
    if (!choice.tree || !all_present(scope_.context.store, *choice.tree)) return false;
    asset.add_all(*choice.tree, nullptr);
    const Totals totals = choice.tree->totals();
    scope_.context.events.on(event::BytesReused{totals.bytes, Reuse::source});
    scope_.files_done += totals.files;
    scope_.trust(choice.learnt->trusted_by);
    return true;
  }

  // Unproven content of another user of a shared store is not taken unless this user says so.
  void name_those_who_know(const Fragment& fragment) {
    const Store& store = scope_.context.store;
    const Selection& selection = scope_.request.selection;
    std::vector<Sha256> keys = {source_key(fragment, store.source_names(), selection)};
    for (std::size_t i = 0; i < fragment.urls.size(); ++i)
      keys.push_back(given_key(fragment, i, store.source_names(), selection));
    std::vector<ForeignRef> others;
    for (const auto& key : keys) std::ranges::copy(store.foreign_refs(key), std::back_inserter(others));
    if (others.empty()) return;
    scope_.context.events.on(
        event::Warning{fmt::format("{}: {}; until then its sources are asked again", fragment.id, untrusted(others))});
  }

  void fetch_parts() {
    std::vector<FileJob> jobs;
    std::vector<FragmentPart*> owners;
    for (auto& part : parts_) {
      if (part->job() == nullptr) continue;
      jobs.push_back(*part->job());
      owners.push_back(part.get());
    }
    if (jobs.empty()) return;
    auto outcomes = scope_.fetch(jobs);
    for (std::size_t i = 0; i < owners.size(); ++i) owners[i]->take(std::move(outcomes[i]));
  }

  const FragmentChoices choices_;
  FragmentScope scope_;
  std::vector<std::unique_ptr<FragmentPart>> parts_;
};

}  // namespace

std::string others_hint(const Store& store, const Sha256& key) {
  const auto refs = store.foreign_refs(key);
  if (refs.empty()) return "";
  return "; " + untrusted(refs);
}

FetchedFragments fetch_fragments(FetchContext& context, const Recipe& recipe, const Manifest* expected,
                                 AssetRequest& request, ManifestBuilder& asset) {
  return FragmentFetch(context, recipe, expected, request).run(asset);
}

}  // namespace sabath
