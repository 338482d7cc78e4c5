#include "sabath/verbs/where.h"

#include <nlohmann/json.hpp>

#include "holdings/holding.h"
#include "sabath/error.h"
#include "verbs/verb.h"

namespace sabath {

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

std::string to_json(const WhereRecord& record) { return record_text(record); }

extern constexpr LibraryVerb where_call = described<where>("where");

}  // namespace sabath
