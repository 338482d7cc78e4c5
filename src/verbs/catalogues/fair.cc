// `fair`: the principles, asked of recipes.
#include "metadata/fair.h"
#include "base/counted.h"
#include "recipe/identifier.h"
#include "recipe/naming.h"
#include "recipe/subscribed.h"
#include "sabath/error.h"
#include "sabath/metadata.h"
#include "session/asking.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "holdings/holding.h"
#include "sabath/catalogue.h"
#include "verbs/catalogues/catalogue_records.h"
#include "verbs/records.h"

namespace sabath {

namespace {

std::string identifier_of(const Recipe& recipe) {
  const Metadata& data = metadata_of(recipe);
  return plain_identifier(data.id.empty() ? data.doi : data.id);
}

bool leads_here(const Catalogue& catalogue, const Recipe& recipe) {
  const std::string id = identifier_of(recipe);
  if (id.empty()) return false;
  try {
    const auto found = catalogue.try_identified(id, std::nullopt);
    return found && found->origin == recipe.origin;
  } catch (const Error&) {  // several have it
    return false;
  }
}

// Its sources are asked, unless that is offline or leads nowhere.
FairTrials tried(const Recipe& recipe, const SessionSettings& settings, const std::stop_token& stop) {
  FairTrials trials;
  if (settings.offline || part_of_this_machine(recipe)) return trials;
  const SourceAnswers answers = ask_sources(recipe, settings, stop);
  if (answers.asked == 0) return trials;
  trials.answers = answers.silent.empty();
  trials.silent = answers.silent;
  trials.asked = *trials.answers ? fmt::format("{} of {} answered", answers.answered, counted(answers.asked, "source"))
                                 : answers.why;
  return trials;
}

}  // namespace

FairRecord fair(Session& session, const FairRequest& request, EventSink&, std::stop_token stop) {
  const Catalogue catalogue = make_catalogue(session.settings());
  FairRecord record;
  for (const std::string& name : request.names) {
    const Recipe recipe = catalogue.find(name, std::nullopt);
    const auto known = catalogue.try_find(recipe.name, recipe.kind);
    FairTrials trials = tried(recipe, session.settings(), stop);
    trials.is_catalogued = known && known->origin == recipe.origin;
    trials.id_leads_here = leads_here(catalogue, recipe);
    record.assets.push_back({recipe.name, recipe.kind, fair_principles(recipe, trials)});
  }
  if (!request.names.empty()) return record;
  const auto all = catalogue.all(std::nullopt);
  std::map<std::string, std::size_t> known;
  for (const Catalogue::Listed& listed : all)  // what others claim takes nothing from ours
    if (listed.recipe && !is_subscribed(listed.recipe->origin)) ++known[identifier_of(*listed.recipe)];
  for (const Catalogue::Listed& listed : all) {
    if (!listed.recipe) continue;
    const std::string id = identifier_of(*listed.recipe);
    const std::size_t alone = is_subscribed(listed.recipe->origin) ? 0 : 1;
    const FairTrials trials{.is_catalogued = true, .id_leads_here = !id.empty() && known[id] == alone};
    record.assets.push_back({listed.recipe->name, listed.recipe->kind, fair_principles(*listed.recipe, trials)});
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
