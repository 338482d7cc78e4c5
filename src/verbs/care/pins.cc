#include "sabath/pins.h"
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

PinRecord all_pins(const SessionSettings& settings) {
  PinRecord record;
  const auto store = try_open_store(settings);
  if (!store) return record;
  for (const auto& kept : read_pins(*store)) record.pins.push_back({kept.name, kept.root.prefixed(), kept.time});
  return record;
}

// Under a name, of all versions; under a root, of all names.
std::vector<Pin> let_go(Store& store, const std::string& name) {
  const auto root = Sha256::try_parse(name);
  return remove_pins(store, [&](const Pin& kept) { return kept.name == name || (root && kept.root == *root); });
}

Json json_of(const std::vector<PinnedAsset>& assets) {
  Json all = Json::array();
  for (const auto& asset : assets) {
    Json one{{"name", text_or_null(asset.name)}, {"manifest", asset.manifest}};
    if (asset.time) one["time"] = *asset.time;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

PinRecord pin(Session& session, const PinRequest& request, EventSink&, std::stop_token) {
  if (request.names.empty()) return all_pins(session.settings());
  PinRecord record;
  const auto store = open_existing_store(session.settings());
  for (const auto& name : request.names) {
    const Sha256 root = kept_root(name, session.settings(), *store);
    // Leased before the look at it, so that no collection takes it in between.
    const Lease lease = store->lease({root}, "pin " + name);
    if (!store->manifest(root)) {
      throw Error(FailureKind::offline, fmt::format("the store does not hold {}", printable(name)),
                  fmt::format("{} {}", verb_text("fetch"), shell_word(name)));
    }
    put_pin(*store, {root, name, std::time(nullptr)});
    record.pins.push_back({name, root.prefixed(), std::nullopt});
  }
  return record;
}

UnpinRecord unpin(Session& session, const UnpinRequest& request, EventSink&, std::stop_token) {
  if (request.names.empty()) throw Error(FailureKind::usage, "what to unpin is not said", "name it");
  UnpinRecord record;
  const auto store = open_existing_store(session.settings());
  for (const auto& name : request.names) {
    const auto gone = let_go(*store, name);
    if (gone.empty()) {
      throw Error(FailureKind::not_found, fmt::format("{} is not pinned", printable(name)),
                  fmt::format("`{}` lists the pins", verb_text("pin")));
    }
    for (const auto& pin : gone) record.unpinned.push_back({pin.name, pin.root.prefixed(), std::nullopt});
  }
  return record;
}

Json json_of(const PinRecord& record) { return {{"schema", 1}, {"pins", json_of(record.pins)}, {"exit", record.exit}}; }

Json json_of(const UnpinRecord& record) {
  return {{"schema", 1}, {"unpinned", json_of(record.unpinned)}, {"exit", record.exit}};
}

std::string to_json(const PinRecord& record) { return text_of(json_of(record)); }

std::string to_json(const UnpinRecord& record) { return text_of(json_of(record)); }

Json call_pin(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const PinRequest asked{request.texts("names")};
  request.finish();
  return json_of(pin(session, asked, events, std::move(stop)));
}

Json call_unpin(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const UnpinRequest asked{request.some_texts("names")};
  request.finish();
  return json_of(unpin(session, asked, events, std::move(stop)));
}

}  // namespace sabath
