// `catalogue pin`: what the store holds of an asset, in its recipe's own file.
#include "sabath/pinning.h"

#include <nlohmann/json.hpp>

#include "catalogues/pin.h"
#include "verbs/catalogues/catalogue_records.h"
#include "verbs/catalogues/own_recipe.h"
#include "verbs/records.h"

namespace sabath {

PinnedRecipeRecord pin_recipe(Session& session, const PinRecipeRequest& request, EventSink&, std::stop_token stop) {
  const SessionSettings& settings = session.settings();
  const OwnRecipe own = own_recipe(settings, request.name);
  PinnedText pinned = pinned_text(settings, own.recipe, own.text, request.urls, stop);
  static_cast<void>(recipe_of_text(pinned.text, own.file, own.recipe.kind));
  if (!request.dry_run) write_own_recipe(settings, own, pinned.text);
  return {own.recipe.name,        own.file,     std::move(pinned.text),
          pinned.root.prefixed(), pinned.files, std::move(pinned.root_only)};
}

Json json_of(const PinnedRecipeRecord& record) {
  return {{"schema", 1},
          {"name", record.name},
          {"file", record.file.string()},
          {"recipe", record.text},
          {"manifest", record.manifest},
          {"files", record.files},
          {"by_root_alone", record.root_only},
          {"exit", record.exit}};
}

std::string to_json(const PinnedRecipeRecord& record) { return text_of(json_of(record)); }

Json call_catalogue_pin(Session& session, JsonObject& asked, EventSink& events, std::stop_token stop) {
  const PinRecipeRequest request{asked.text("name"), asked.texts("urls"), asked.flag("dry_run")};
  asked.finish();
  return json_of(pin_recipe(session, request, events, std::move(stop)));
}

}  // namespace sabath
