#include "sabath/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "catalogues/tombstone.h"
#include "harness/consent.h"
#include "metadata/documents.h"
#include "recipe/subscribed.h"
#include "recipe/versions.h"
#include "sabath/error.h"
#include "sabath/metadata.h"
#include "sabath/path.h"
#include "session/harvest.h"
#include "session/lineage.h"
#include "verbs/assets/assets.h"
#include "verbs/assets/list_fields.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

// Of its run sets, the one that would be asked about first.
std::string runs_by(const SessionSettings& settings, const Environment& environment, const Recipe& recipe) {
  std::string by;
  for (const RunSets* sets : {&recipe.run, &recipe.infer}) {
    for (const auto& [name, steps] : *sets) {
      const TrustVerdict verdict = foresee_consent(settings, environment, recipe, steps).verdict;
      if (!verdict.trusted) return "asks";
      by = verdict.by;
    }
  }
  return by;
}

// nullopt: there is a tombstone of that name or id, which joins `removed`.
std::optional<Recipe> find_or_remember(const Catalogue& catalogue, const SessionSettings& settings,
                                       const InfoRequest& request, const std::string& name,
                                       std::vector<Tombstone>& removed) {
  const auto remembered = [&] {
    auto stones = tombstones_of(tombstone_places(settings.roots, settings.recipe_directories), name);
    std::ranges::move(stones, std::back_inserter(removed));
    return !stones.empty();
  };
  try {
    Recipe found = catalogue.find(name, request.kind);
    if (catalogue.is_held(found) && request.format.empty() && remembered()) return std::nullopt;
    return found;
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::not_found || !request.format.empty() || !remembered()) throw;
    return std::nullopt;
  }
}

}  // namespace

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

InfoRecord info(Session& session, const InfoRequest& request, EventSink&, std::stop_token) {
  InfoRecord record;
  const MetadataFormat* format = request.format.empty() ? nullptr : &find_metadata_format(request.format);
  if (format != nullptr && !format->joins && request.names.size() != 1)
    throw Error(FailureKind::usage, fmt::format("a document of the format \"{}\" describes one asset", format->name),
                "name one asset at a time");
  const Catalogue catalogue = make_catalogue(session.settings());
  const auto store = try_open_store(session.settings());
  for (const std::string& name : request.names) {
    auto found = find_or_remember(catalogue, session.settings(), request, name, record.removed);
    if (!found) continue;
    Recipe& recipe = *found;
    const Holding holding = holding_of(recipe, store.get());
    const std::string root = holding.root ? holding.root->prefixed() : "";
    std::string document = format != nullptr ? format->write({recipe, root}) : "";
    auto lineage = request.lineage ? std::optional(lineage_of(catalogue, recipe, store.get())) : std::nullopt;
    std::string by = runs_by(session.settings(), request.environment, recipe);
    std::optional<Harvested> harvest;
    if (store && holding.root) {
      if (auto facts = harvested_of(Layout(store->directory()), *holding.root))
        harvest = Harvested{std::move(facts->files), std::move(facts->lines)};
    }
    record.assets.push_back({std::move(recipe), root, holding.trusted_by, holding.view, std::move(document),
                             std::move(lineage), std::move(harvest), std::move(by)});
  }
  return record;
}

CiteRecord cite(Session& session, const CiteRequest& request, EventSink&, std::stop_token) {
  CiteRecord record;
  const Catalogue catalogue = make_catalogue(session.settings());
  for (const std::string& name : request.names) {
    const Recipe recipe = catalogue.find(name, std::nullopt);
    if (recipe.citation.empty()) {
      const std::string& lead = !recipe.homepage.empty() ? recipe.homepage : recipe.origin;
      throw Error(FailureKind::not_found, fmt::format("the recipe of {} has no citation", printable(recipe.name)),
                  recipe.references.empty() ? fmt::format("see {}", lead)
                                            : fmt::format("its references: {}", recipe.references.front()));
    }
    record.assets.push_back({recipe.name, recipe.citation});
  }
  return record;
}

WhereRecord where(Session& session, const WhereRequest& request, EventSink&, std::stop_token) {
  const SessionSettings& settings = session.settings();
  const Recipe recipe = make_catalogue(settings).find(request.name, std::nullopt);
  const auto store = try_open_store(settings);
  const Holding holding = holding_of(recipe, store.get());
  const auto manifest = store && holding.has_manifest ? store->manifest(*holding.root) : std::nullopt;
  WhereRecord record;
  record.name = recipe.name;
  record.recipe = recipe.origin;
  record.store = settings.store;
  record.made = store != nullptr;
  record.manifest = holding.root ? holding.root->prefixed() : "";
  record.trusted_by = holding.trusted_by;
  record.source = holding.source;
  record.recipe_pins = recipe.manifest.has_value();
  record.has_manifest = holding.has_manifest;
  record.path = holding.view;
  record.packed = manifest && holding.view.empty() && store->packed(*manifest);
  if (holding.view.empty()) record.exit = exit_code(FailureKind::offline);
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

template <>
struct Described<CiteRequest> {
  using Of = CiteRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(names, .help = "an asset", .required = true, .argument = "NAME"),
  };
};

template <>
struct Described<AssetCitations> {
  using Of = AssetCitations;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the asset"),
      SABATH_FIELD_AS("citation", citations, .help = "each way to cite it, of several lines"),
  };
};

template <>
struct Described<CiteRecord> {
  using Of = CiteRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(assets, .help = "those that were named"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

template <>
struct Described<WhereRequest> {
  using Of = WhereRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "an asset", .required = true, .argument = "NAME"),
  };
};

template <>
struct Described<WhereRecord> {
  using Of = WhereRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the asset"),
      SABATH_FIELD(recipe, .help = "the file that counts"),
      SABATH_FIELD(store, .help = "the store, which may not be made yet"),
      SABATH_FIELD(manifest, .help = "its root; null: it is not known", .null_if_empty = true),
      SABATH_FIELD(has_manifest, .help = "the store holds the manifest"),
      SABATH_FIELD(trusted_by, .help = "why the root is believed", .null_if_empty = true),
      SABATH_FIELD(source, .help = "the source that gave it", .null_if_empty = true),
      SABATH_FIELD(path, .help = "the view; null: there is none", .null_if_empty = true),
      SABATH_FIELD(packed, .help = "its files are in packs, and there is no view"),
      SABATH_FIELD(exit, .help = "the exit code: that of offline if there is no view"),
  };
};

std::string to_json(const ListRecord& record) { return record_text(record); }
std::string to_json(const CiteRecord& record) { return record_text(record); }
std::string to_json(const WhereRecord& record) { return record_text(record); }

extern constexpr LibraryVerb list_call = described<list>("list");
extern constexpr LibraryVerb cite_call = described<cite>("cite");
extern constexpr LibraryVerb where_call = described<where>("where");

}  // namespace sabath
