#include "sabath/collection.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/wording.h"
#include "fields/request.h"
#include "holdings/stores.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/collect/collect.h"
#include "store/disk/owners.h"
#include "store/pins.h"
#include "verbs/assets/asset_names.h"
#include "verbs/assets/assets.h"
#include "verbs/care/kept_root.h"
#include "verbs/records.h"

namespace sabath {
namespace {

CollectPolicy policy_of(const CollectionRequest& request) {
  if (request.size_low && !request.size_max) {
    throw Error(FailureKind::usage,
                fmt::format("{} says how far to go when {} is exceeded", option_text("low"), option_text("max_size")),
                fmt::format("give {} as well", option_text("max_size")));
  }
  if (request.size_low && *request.size_low > *request.size_max) {
    throw Error(FailureKind::usage, fmt::format("{} is more than {}", option_text("low"), option_text("max_size")),
                "give less");
  }
  for (const auto& span :
       {request.older_than, request.grace, request.partial_grace, request.idle_max, request.undo_window}) {
    check_span(span, "a time of a collection");
  }
  CollectPolicy policy;
  policy.size_max = request.size_max;
  policy.size_low = request.size_low;
  policy.older_than = request.older_than;
  policy.grace = request.grace.value_or(policy.grace);
  policy.partial_grace = request.partial_grace.value_or(policy.partial_grace);
  policy.idle_max = request.idle_max.value_or(policy.idle_max);
  policy.undo_window = request.undo_window.value_or(policy.undo_window);
  policy.now = request.now;
  policy.force_local = request.force_local;
  policy.dry_run = request.dry_run;
  return policy;
}

std::vector<CollectedAsset> named(std::vector<CollectReport::Asset>& assets, const AssetNames& names) {
  std::vector<CollectedAsset> all;
  for (auto& asset : assets) {
    all.push_back({names.of(asset.root, asset.keys, asset.source), asset.root.prefixed(), std::move(asset.source),
                   asset.files, asset.bytes, asset.freed_bytes, asset.used_ns, std::move(asset.why), asset.until_ns});
  }
  return all;
}

// Two assets of the same content have one root: one that no name of its own keeps stays for the other's pin.
void name_pins(std::vector<CollectedAsset>& kept, const std::vector<Pin>& pins) {
  for (auto& asset : kept) {
    if (asset.why != "kept") continue;
    const auto pins_it = [&](const Pin& pin) { return pin.root.prefixed() == asset.manifest; };
    const auto own = [&](const Pin& pin) { return pins_it(pin) && (pin.name.empty() || pin.name == asset.name); };
    const auto pin = std::ranges::find_if(pins, pins_it);
    if (pin != pins.end() && std::ranges::none_of(pins, own))
      asset.why = fmt::format("it is the content of {}, which is kept", printable(pin->name));
  }
}

Json json_of(const std::vector<CollectedAsset>& assets) {
  Json list = Json::array();
  for (const auto& asset : assets) {
    list.push_back({{"name", asset.name},
                    {"manifest", asset.manifest},
                    {"source", text_or_null(asset.source)},
                    {"files", asset.files},
                    {"bytes", asset.bytes},
                    {"freed_bytes", asset.freed_bytes},
                    {"used", asset.used_ns / 1'000'000'000},
                    {"why", asset.why},
                    {"until", until_or_null(asset.until_ns)}});
  }
  return list;
}

Json json_of(const std::vector<KeepingMember>& keepers) {
  Json list = Json::array();
  for (const auto& keeper : keepers) {
    list.push_back({{"user", keeper.user},
                    {"assets", keeper.assets},
                    {"bytes", keeper.bytes},
                    {"unused_bytes", keeper.unused_bytes}});
  }
  return list;
}

Json json_of(const std::vector<CollectedOther>& others) {
  Json list = Json::array();
  for (const auto& other : others) {
    list.push_back(
        {{"name", other.name}, {"bytes", other.bytes}, {"used", other.used_ns / 1'000'000'000}, {"why", other.why}});
  }
  return list;
}

}  // namespace

CollectionRecord collect(Session& session, const CollectionRequest& request, EventSink&, std::stop_token stop) {
  const SessionSettings& settings = session.settings();
  const auto store = open_existing_store(settings);
  const CollectPolicy policy = policy_of(request);
  const AssetNames names(make_catalogue(settings), source_names(settings));
  CollectReport report = collect(*store, policy, stop);
  CollectionRecord record;
  record.dry_run = policy.dry_run;
  record.objects = report.objects;
  record.object_bytes = report.object_bytes;
  record.collected = named(report.collected, names);
  record.kept = named(report.kept, names);
  name_pins(record.kept, read_pins(*store));
  for (const auto& keeper : report.keepers)
    record.keepers.push_back(
        {keeper.user, users_text({keeper.user}), keeper.assets, keeper.bytes, keeper.unused_bytes});
  record.collected_objects = report.collected_objects;
  record.collected_bytes = report.collected_bytes;
  record.unnamed_objects = report.unnamed_objects;
  record.unnamed_bytes = report.unnamed_bytes;
  record.partials = report.partials;
  record.partial_bytes = report.partial_bytes;
  for (auto& other : report.others)
    record.others.push_back({std::move(other.name), other.bytes, other.used_ns, std::move(other.why)});
  record.other_bytes = report.other_bytes;
  record.leftovers = report.leftovers;
  record.restored = report.restored;
  record.deleted_batches = report.deleted_batches;
  record.deleted_bytes = report.deleted_bytes;
  record.waiting = std::move(report.waiting);
  record.notes = std::move(report.notes);
  return record;
}

UndoRecord undo_collection(Session& session, const UndoRequest&, EventSink&, std::stop_token) {
  const UndoReport report = undo_collection(*open_existing_store(session.settings()));
  return {report.batches, report.objects, report.assets, report.others};
}

Json json_of(const CollectionRecord& record) {
  return {{"schema", 1},
          {"dry_run", record.dry_run},
          {"objects", record.objects},
          {"object_bytes", record.object_bytes},
          {"collected", json_of(record.collected)},
          {"kept", json_of(record.kept)},
          {"keepers", json_of(record.keepers)},
          {"collected_objects", record.collected_objects},
          {"collected_bytes", record.collected_bytes},
          {"unnamed_objects", record.unnamed_objects},
          {"unnamed_bytes", record.unnamed_bytes},
          {"partials", record.partials},
          {"partial_bytes", record.partial_bytes},
          {"others", json_of(record.others)},
          {"other_bytes", record.other_bytes},
          {"leftovers", record.leftovers},
          {"restored", record.restored},
          {"deleted_batches", record.deleted_batches},
          {"deleted_bytes", record.deleted_bytes},
          {"waiting", record.waiting},
          {"notes", record.notes},
          {"exit", record.exit}};
}

Json json_of(const UndoRecord& record) {
  return {{"schema", 1},
          {"batches", record.batches},
          {"objects", record.objects},
          {"assets", record.assets},
          {"others", record.others},
          {"exit", record.exit}};
}

std::string to_json(const CollectionRecord& record) { return text_of(json_of(record)); }

std::string to_json(const UndoRecord& record) { return text_of(json_of(record)); }

Json call_gc(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  CollectionRequest asked;
  asked.size_max = request.try_size("max_size");
  asked.size_low = request.try_size("low");
  asked.older_than = try_seconds(request, "older_than");
  asked.grace = try_seconds(request, "grace");
  asked.partial_grace = try_seconds(request, "partials");
  asked.idle_max = try_seconds(request, "idle");
  asked.undo_window = try_seconds(request, "window");
  asked.now = request.flag("now");
  asked.force_local = request.flag("force_local");
  asked.dry_run = request.flag("dry_run");
  const bool undo = request.flag("undo");
  request.finish();
  if (undo) return json_of(undo_collection(session, {}, events, std::move(stop)));
  return json_of(collect(session, asked, events, std::move(stop)));
}

}  // namespace sabath
