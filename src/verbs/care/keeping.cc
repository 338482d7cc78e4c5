#include "sabath/keeping.h"
#include "base/text.h"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/pins.h"
#include "verbs/assets/assets.h"
#include "verbs/care/kept_root.h"
#include "verbs/records.h"

namespace sabath {
namespace {

KeepRecord all_kept(const SessionSettings& settings) {
  KeepRecord record;
  const auto store = try_open_store(settings);
  if (!store) return record;
  for (const auto& kept : read_pins(*store)) record.kept.push_back({kept.name, kept.root.prefixed(), kept.time});
  return record;
}

// Under a name, of all versions; under a root, of all names.
std::vector<Pin> let_go(Store& store, const std::string& name) {
  const auto root = Sha256::try_parse(name);
  return remove_pins(store, [&](const Pin& kept) { return kept.name == name || (root && kept.root == *root); });
}

Json json_of(const std::vector<KeptAsset>& assets) {
  Json all = Json::array();
  for (const auto& asset : assets) {
    Json one{{"name", text_or_null(asset.name)}, {"manifest", asset.manifest}};
    if (asset.time) one["time"] = *asset.time;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

KeepRecord keep(Session& session, const KeepRequest& request, EventSink&, std::stop_token) {
  if (request.names.empty()) return all_kept(session.settings());
  KeepRecord record;
  const auto store = open_existing_store(session.settings());
  for (const auto& name : request.names) {
    const Sha256 root = kept_root(name, session.settings(), *store);
    // Leased before the look at it, so that no collection takes it in between.
    const Lease lease = store->lease({root}, "keep " + name);
    if (!store->manifest(root)) {
      throw Error(FailureKind::offline, fmt::format("the store does not hold {}", printable(name)),
                  fmt::format("{} {}", verb_text("fetch"), shell_word(name)));
    }
    put_pin(*store, {root, name, std::time(nullptr)});
    record.kept.push_back({name, root.prefixed(), std::nullopt});
  }
  return record;
}

UnkeepRecord unkeep(Session& session, const UnkeepRequest& request, EventSink&, std::stop_token) {
  if (request.names.empty()) throw Error(FailureKind::usage, "what to let go is not said", "name it");
  UnkeepRecord record;
  const auto store = open_existing_store(session.settings());
  for (const auto& name : request.names) {
    const auto gone = let_go(*store, name);
    if (gone.empty()) {
      throw Error(FailureKind::not_found, fmt::format("{} is not kept", printable(name)),
                  fmt::format("`{}` lists what is kept", verb_text("keep")));
    }
    for (const auto& pin : gone) record.unkept.push_back({pin.name, pin.root.prefixed(), std::nullopt});
  }
  return record;
}

Json json_of(const KeepRecord& record) {
  return {{"schema", 1}, {"kept", json_of(record.kept)}, {"exit", record.exit}};
}

Json json_of(const UnkeepRecord& record) {
  return {{"schema", 1}, {"unkept", json_of(record.unkept)}, {"exit", record.exit}};
}

std::string to_json(const KeepRecord& record) { return text_of(json_of(record)); }

std::string to_json(const UnkeepRecord& record) { return text_of(json_of(record)); }

Json call_keep(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const KeepRequest asked{request.texts("names")};
  request.finish();
  return json_of(keep(session, asked, events, std::move(stop)));
}

Json call_unkeep(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const UnkeepRequest asked{request.some_texts("names")};
  request.finish();
  return json_of(unkeep(session, asked, events, std::move(stop)));
}

}  // namespace sabath
