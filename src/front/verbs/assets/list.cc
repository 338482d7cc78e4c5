#include "sabath/verbs/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "recipe/subscribed.h"
#include "recipe/versions.h"
#include "sabath/metadata.h"
#include "verbs/assets/list_fields.h"
#include "verbs/verb.h"

namespace sabath {

AssetSummary summary_of(const Recipe& recipe, bool present) {
  return {.name = recipe.name,
          .kind = recipe.kind,
          .version = recipe.version,
          .access = recipe.access.kind,
          .size_bytes = known_size(recipe),
          .present = present,
          .packed = false,
          .stored_bytes = std::nullopt,
          .title = recipe.title};
}

AssetSummary stored_summary(const Recipe& recipe, Store* store) {
  const Holding holding = holding_of(recipe, store);
  AssetSummary summary = summary_of(recipe, !holding.view.empty());
  if (!holding.has_manifest) return summary;
  const auto manifest = summary.present ? std::nullopt : store->manifest(*holding.root);
  summary.packed = manifest && store->packed(*manifest);
  if (summary.present || summary.packed) summary.stored_bytes = holding.totals.bytes;
  return summary;
}

namespace {

// The later version of it that a subscribed catalogue has: of the same id, or of the same name where an id lacks.
std::string newer_of(const Recipe& recipe, const std::vector<Catalogue::Listed>& others) {
  const Recipe* latest = &recipe;
  for (const Catalogue::Listed& listed : others) {
    const Recipe& other = *listed.recipe;
    const std::string &ours = metadata_of(recipe).id, &theirs = metadata_of(other).id;
    const bool same =
        ours.empty() || theirs.empty() ? other.name.substr(other.name.rfind('/') + 1) == recipe.name : ours == theirs;
    if (same && other.kind == recipe.kind && is_later(other, *latest)) latest = &other;
  }
  return latest == &recipe ? "" : fmt::format("{}@{}", latest->name, latest->version);
}

// What the store holds by a name that no recipe has.
void add_held(const Catalogue& catalogue, const ListRequest& request, Store* store, ListRecord& record) {
  const std::size_t of_recipes = record.assets.size();
  for (const Recipe& recipe : catalogue.held(request.kind)) {
    if (request.access && *request.access != recipe.access.kind) continue;
    AssetSummary summary = stored_summary(recipe, store);
    if (summary.present || summary.packed) record.assets.push_back(std::move(summary));
  }
  if (record.assets.size() == of_recipes) return;
  std::ranges::stable_sort(record.assets, {},
                           [](const AssetSummary& each) { return std::pair(each.kind, to_lower(each.name)); });
}

}  // namespace

ListRecord list(Session& session, const ListRequest& request, EventSink&, std::stop_token) {
  ListRecord record;
  const Catalogue catalogue = make_catalogue(session.settings());
  const auto store = try_open_store(session.settings());
  std::vector<Catalogue::Listed> all = catalogue.all(request.kind), others;
  if (request.newer) {
    const auto first = std::stable_partition(all.begin(), all.end(), [](const Catalogue::Listed& listed) {
      return !listed.recipe || !is_subscribed(listed.recipe->origin);
    });
    std::move(first, all.end(), std::back_inserter(others));
    all.erase(first, all.end());
  }
  for (const Catalogue::Listed& listed : all) {
    if (!listed.recipe) {
      record.problems.push_back({listed.file, listed.problem});
      continue;
    }
    if (request.access && *request.access != listed.recipe->access.kind) continue;
    AssetSummary summary = stored_summary(*listed.recipe, store.get());
    if (request.newer) summary.newer = newer_of(*listed.recipe, others);
    if (request.newer && summary.newer.empty()) continue;
    if (summary.present || summary.packed || !request.stored) record.assets.push_back(std::move(summary));
  }
  if (!request.newer) add_held(catalogue, request, store.get(), record);
  return record;
}

template <>
struct Described<ListRequest> {
  using Of = ListRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(kind, .help = "only assets of this kind", .letter = 'k'),
      SABATH_FIELD(access, .help = "only assets that one gets in this way"),
      SABATH_FIELD(stored, .help = "only assets that are in the store"),
      SABATH_FIELD(newer, .help = "only assets of which a subscribed catalogue has a later version"),
  };
};

std::string to_json(const ListRecord& record) { return record_text(record); }

extern constexpr LibraryVerb list_call = described<list>("list");

}  // namespace sabath
