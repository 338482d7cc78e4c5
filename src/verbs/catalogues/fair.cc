// `fair`: the principles, asked of recipes.
#include "metadata/fair.h"

#include <nlohmann/json.hpp>

#include "sabath/catalogue.h"
#include "session/holding.h"
#include "verbs/catalogues/catalogue_records.h"
#include "verbs/records.h"

namespace sabath {

FairRecord fair(Session& session, const FairRequest& request, EventSink&, std::stop_token) {
  const Catalogue catalogue = make_catalogue(session.settings());
  FairRecord record;
  for (const std::string& name : request.names) {
    const Recipe recipe = catalogue.find(name, std::nullopt);
    const auto known = catalogue.try_find(recipe.name, recipe.kind);
    const bool is_catalogued = known && known->origin == recipe.origin;
    record.assets.push_back({recipe.name, recipe.kind, fair_principles(recipe, is_catalogued)});
  }
  if (!request.names.empty()) return record;
  for (const Catalogue::Listed& listed : catalogue.all(std::nullopt)) {
    if (listed.recipe)
      record.assets.push_back({listed.recipe->name, listed.recipe->kind, fair_principles(*listed.recipe, true)});
  }
  return record;
}

Json json_of(const FairRecord& record) {
  Json assets = Json::array();
  for (const FairAsset& asset : record.assets) {
    Json principles = Json::object();
    for (const FairPrinciple& one : asset.principles)
      principles[one.name] = {{"answer", one.answer}, {"by", one.by}, {"remedy", text_or_null(one.remedy)}};
    assets.push_back({{"name", asset.name}, {"kind", kind_name(asset.kind)}, {"principles", std::move(principles)}});
  }
  return {{"schema", 1}, {"assets", std::move(assets)}, {"exit", record.exit}};
}

std::string to_json(const FairRecord& record) { return text_of(json_of(record)); }

Json call_fair(Session& session, JsonObject& asked, EventSink& events, std::stop_token stop) {
  const FairRequest request{asked.texts("names")};
  asked.finish();
  return json_of(fair(session, request, events, std::move(stop)));
}

}  // namespace sabath
