// `fair`: the principles, asked of recipes.
#include "metadata/fair.h"
#include "base/counted.h"
#include "fields/asset_kind.h"
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
#include "sabath/recipe.h"
#include "verbs/verb.h"

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

std::vector<std::pair<std::string, FairPrinciple>> by_name(const FairAsset& asset) {
  std::vector<std::pair<std::string, FairPrinciple>> all;
  for (const FairPrinciple& one : asset.principles) all.emplace_back(one.name, one);
  return all;
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

template <>
struct Described<FairRequest> {
  using Of = FairRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(names, .help = "an asset, or a recipe file", .argument = "NAME"),
  };
};

template <>
struct Described<FairPrinciple> {
  using Of = FairPrinciple;
  static constexpr Field table[] = {
      SABATH_FIELD(answer, .help = "whether the asset has what the principle asks for",
                   .words = "yes|part|no|not asked"),
      SABATH_FIELD(by, .help = "what says so, or what is missing"),
      SABATH_FIELD(remedy, .help = "the change of the recipe that would mend it, as `catalogue edit` takes it",
                   .null_if_empty = true),
  };
};

template <>
struct Described<FairAsset> {
  using Of = FairAsset;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the asset"),
      SABATH_FIELD(kind, .help = "what it is"),
      SABATH_VALUE("principles", by_name, .help = "by their names, F1 to R3"),
  };
};

template <>
struct Described<FairRecord> {
  using Of = FairRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(assets, .help = "those that were named; else all, whose sources were not asked"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const FairRecord& record) { return record_text(record); }

extern constexpr LibraryVerb fair_call = described<fair>("fair");

}  // namespace sabath
