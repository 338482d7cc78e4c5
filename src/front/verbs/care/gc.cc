#include "sabath/verbs/gc.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
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
#include "verbs/assets/kept_root.h"
#include "verbs/care/gc_call.h"
#include "verbs/verb.h"

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

}  // namespace

CollectionRecord gc(Session& session, const CollectionRequest& request, EventSink&, std::stop_token stop) {
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
  if (const auto left = report.object_bytes - report.collected_bytes; policy.size_max && left > *policy.size_max) {
    record.notes.push_back(
        fmt::format("{} stay in the store, more than {}: the assets that stay are listed with the reason",
                    format_bytes(left), format_bytes(*policy.size_max)));
  }
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

UndoRecord undo_gc(Session& session, const UndoRequest&, EventSink&, std::stop_token) {
  const UndoReport report = undo_collection(*open_existing_store(session.settings()));
  return {report.batches, report.objects, report.assets, report.others};
}

template <>
struct Described<CollectionCall> {
  using Of = CollectionCall;
  static constexpr Field table[] = {
      SABATH_FIELD_AS("max_size", size_max,
                      .help = "when objects take more (and clones and quarantine, which go first), the least recently "
                              "used assets go until they do not",
                      .unit = "bytes", .value = "SIZE"),
      SABATH_FIELD_AS("low", size_low, .help = "... until they take this (default: SIZE of --max-size)",
                      .unit = "bytes", .value = "SIZE"),
      SABATH_FIELD(older_than,
                   .help = "assets that were not used for so long go, e.g. 30d, 12h; of a shared store, so long one "
                           "counts as used by the other members who have it (default: 30d)",
                   .value = "TIME"),
      SABATH_FIELD(dry_run, .help = "say what would go, with names and sizes, and change nothing", .letter = 'n'),
      SABATH_FIELD(now, .help = "delete what is collected in the same call: nothing to take back"),
      SABATH_FIELD(undo, .help = "take back all that is still in the trash"),
      SABATH_FIELD(force_local, .help = "also the last copy of what no source can restore"),
      SABATH_FIELD(grace, .help = "what no asset names stays for so long (default: 24h)", .value = "TIME"),
      SABATH_FIELD_AS("partials", partial_grace,
                      .help = "what interrupted fetches left stays for so long (default: 7d)", .value = "TIME"),
      SABATH_FIELD_AS("idle", idle_max,
                      .help = "what is in quarantine, git clones and indexes of archives stay unused for so long "
                              "(default: 30d)",
                      .value = "TIME"),
      SABATH_FIELD_AS("window", undo_window, .help = "how long the trash can be taken back (default: 24h)",
                      .value = "TIME"),
  };
};

template <>
struct Described<CollectedAsset> {
  using Of = CollectedAsset;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "as people call it"),
      SABATH_FIELD(manifest, .help = "its root"),
      SABATH_FIELD(source, .help = "a URL of it, as people may see it", .null_if_empty = true),
      SABATH_FIELD(files, .help = "as its manifest says", .unit = "files"),
      SABATH_FIELD(bytes, .help = "as its manifest says", .unit = "bytes"),
      SABATH_FIELD(freed_bytes, .help = "of these, what no other asset shares", .unit = "bytes"),
      SABATH_VALUE(
          "used", [](const Of& of) { return of.used_ns / 1'000'000'000; }, .help = "when it was used last, since 1970",
          .unit = "seconds"),
      SABATH_FIELD(why, .help = "why it goes, or stays"),
      SABATH_VALUE(
          "until", [](const Of& of) { return seconds_until(of.until_ns); },
          .help = "when the use of other members ends that keeps it, since 1970; null: none is known",
          .unit = "seconds"),
  };
};

template <>
struct Described<KeepingMember> {
  using Of = KeepingMember;
  static constexpr Field table[] = {
      SABATH_FIELD(user, .help = "the member's number"),
      SABATH_FIELD(assets, .help = "how many assets his use, or his view, keeps"),
      SABATH_FIELD(bytes, .help = "what they have", .unit = "bytes"),
      SABATH_FIELD(unused_bytes, .help = "of these, what no member uses: root may remove the member's views",
                   .unit = "bytes"),
  };
};

template <>
struct Described<CollectedOther> {
  using Of = CollectedOther;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "its path below the store"),
      SABATH_FIELD(bytes, .help = "its space on the disk", .unit = "bytes"),
      SABATH_VALUE(
          "used", [](const Of& of) { return of.used_ns / 1'000'000'000; }, .help = "when it was used last, since 1970",
          .unit = "seconds"),
      SABATH_FIELD(why, .help = "why it goes"),
  };
};

template <>
struct Described<CollectionRecord> {
  using Of = CollectionRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(dry_run, .help = "nothing was changed"),
      SABATH_FIELD(objects, .help = "in the store before"),
      SABATH_FIELD(object_bytes, .help = "what these took on the disk", .unit = "bytes"),
      SABATH_FIELD(collected, .help = "assets that went, or would go"),
      SABATH_FIELD(kept, .help = "assets that the request would have had go, but something keeps them"),
      SABATH_FIELD(keepers, .help = "members of a shared store who keep some of these"),
      SABATH_FIELD(collected_objects, .help = "that went, or would go"),
      SABATH_FIELD(collected_bytes, .help = "of these", .unit = "bytes"),
      SABATH_FIELD(unnamed_objects, .help = "of these, what no asset named"),
      SABATH_FIELD(unnamed_bytes, .help = "of these", .unit = "bytes"),
      SABATH_FIELD(partials, .help = "unfinished files of interrupted fetches that went"),
      SABATH_FIELD(partial_bytes, .help = "of these", .unit = "bytes"),
      SABATH_FIELD(others, .help = "what went, or would go, and no asset is made of: clones, quarantine, indexes"),
      SABATH_FIELD(other_bytes, .help = "of these", .unit = "bytes"),
      SABATH_FIELD(leftovers, .help = "files of processes that are gone"),
      SABATH_FIELD(restored, .help = "files that were taken back, as a process began to use them"),
      SABATH_FIELD(deleted_batches, .help = "batches of the trash that were deleted"),
      SABATH_FIELD(deleted_bytes, .help = "of these", .unit = "bytes"),
      SABATH_FIELD(waiting, .help = "why a batch of the trash stays"),
      SABATH_FIELD(notes, .help = "warnings for people"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

template <>
struct Described<UndoRecord> {
  using Of = UndoRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(batches, .help = "batches of the trash that went back"),
      SABATH_FIELD(objects, .help = "objects that went back"),
      SABATH_FIELD(assets, .help = "assets that went back"),
      SABATH_FIELD(others, .help = "other things that went back"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const CollectionRecord& record) { return record_text(record); }

std::string to_json(const UndoRecord& record) { return record_text(record); }

void check_undo(const CollectionCall& call) {
  const bool spans = call.older_than || call.grace || call.partial_grace || call.idle_max || call.undo_window;
  if (!call.undo || !(spans || call.size_max || call.size_low || call.now || call.force_local || call.dry_run)) return;
  throw Error(FailureKind::usage, fmt::format("{} goes alone: it takes the last collection back", option_text("undo")),
              "leave out the rest");
}

static Json call_gc(Session& session, JsonObject& object, EventSink& events, std::stop_token stop) {
  const auto request = request_in<CollectionCall>(object);
  check_undo(request);
  if (request.undo) return record_json(undo_gc(session, {}, events, std::move(stop)));
  return record_json(gc(session, request, events, std::move(stop)));
}

extern constexpr LibraryVerb gc_call = described<CollectionCall, CollectionRecord, UndoRecord>("gc", call_gc);

}  // namespace sabath
