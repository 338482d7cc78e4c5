#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/text.h"
#include "cli/age.h"
#include "cli/render.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "session/stores.h"
#include "store/collect.h"
#include "verbs/asset_names.h"
#include "verbs/assets.h"
#include "verbs/kept_root.h"

namespace sabath::cli {
namespace {
namespace cmd_gc {

using Json = nlohmann::ordered_json;

struct Options {
  CollectPolicy policy;
  std::optional<std::string> older_than, grace, partial_grace, idle, window;
  bool undo = false;
};

Json json_of(const std::vector<CollectReport::Asset>& assets, const AssetNames& names) {
  Json list = Json::array();
  for (const auto& asset : assets) {
    list.push_back({{"name", names.of(asset.root, asset.keys, asset.source)},
                    {"manifest", asset.root.prefixed()},
                    {"source", text_or_null(asset.source)},
                    {"files", asset.files},
                    {"bytes", asset.bytes},
                    {"freed_bytes", asset.freed_bytes},
                    {"used", asset.used_ns / 1'000'000'000},
                    {"why", asset.why}});
  }
  return list;
}

Json json_of(const std::vector<CollectReport::Other>& others) {
  Json list = Json::array();
  for (const auto& other : others) {
    list.push_back(
        {{"name", other.name}, {"bytes", other.bytes}, {"used", other.used_ns / 1'000'000'000}, {"why", other.why}});
  }
  return list;
}

Json record_of(const CollectReport& report, const AssetNames& names, bool dry_run) {
  return {{"schema", 1},
          {"dry_run", dry_run},
          {"objects", report.objects},
          {"object_bytes", report.object_bytes},
          {"collected", json_of(report.collected, names)},
          {"kept", json_of(report.kept, names)},
          {"collected_objects", report.collected_objects},
          {"collected_bytes", report.collected_bytes},
          {"unnamed_objects", report.unnamed_objects},
          {"unnamed_bytes", report.unnamed_bytes},
          {"partials", report.partials},
          {"partial_bytes", report.partial_bytes},
          {"others", json_of(report.others)},
          {"other_bytes", report.other_bytes},
          {"leftovers", report.leftovers},
          {"restored", report.restored},
          {"deleted_batches", report.deleted_batches},
          {"deleted_bytes", report.deleted_bytes},
          {"waiting", report.waiting},
          {"notes", report.notes},
          {"exit", 0}};
}

void print(Context& context, const CollectReport& report, const AssetNames& names, bool dry_run) {
  Table table({"ASSET", "SIZE", "FREES", "LAST USED", dry_run ? "WOULD GO, FOR" : "GONE, FOR"});
  const std::int64_t now = unix_time();
  const auto row = [&](const CollectReport::Asset& asset, const std::string& why) {
    table.add({names.of(asset.root, asset.keys, asset.source), format_bytes(asset.bytes),
               format_bytes(asset.freed_bytes), format_ago(asset.used_ns, now), why});
  };
  for (const auto& asset : report.collected) row(asset, asset.why);
  for (const auto& asset : report.kept) row(asset, "stays: " + asset.why);
  for (const auto& other : report.others) {
    table.add(
        {other.name, format_bytes(other.bytes), format_bytes(other.bytes), format_ago(other.used_ns, now), other.why});
  }
  if (!table.empty()) context.out.print(table.text({1, 2}, 0));
  const auto plural = [](std::uint64_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  context.say(fmt::format("{} of {} in the store; {} {} of {}, of them {} that no asset names; {}, {}",
                          plural(report.objects, "object"), format_bytes(report.object_bytes),
                          dry_run ? "would collect" : "collected", plural(report.collected_objects, "object"),
                          format_bytes(report.collected_bytes), format_bytes(report.unnamed_bytes),
                          plural(report.partials, "stale partial"), format_bytes(report.partial_bytes)));
  if (report.restored > 0) context.say(fmt::format("{} taken back: in use again", plural(report.restored, "file")));
  if (report.deleted_batches > 0)
    context.say(fmt::format("deleted from the trash: {}", format_bytes(report.deleted_bytes)));
  for (const auto& why : report.waiting) context.say("note: " + why);
  for (const auto& note : report.notes) context.warn(note);
  const bool in_trash =
      !dry_run && report.collected_objects + report.partials + report.others.size() > 0 && report.deleted_batches == 0;
  if (in_trash) context.say("hint: sabath gc --undo takes it back; --now frees the room at once");
}

int undo(Context& context, Store& store) {
  const UndoReport report = undo_collection(store);
  if (context.presentation.json) {
    context.out.record({{"schema", 1},
                        {"batches", report.batches},
                        {"objects", report.objects},
                        {"assets", report.assets},
                        {"others", report.others},
                        {"exit", 0}});
  }
  context.say(fmt::format("taken back: {} objects, {} assets", report.objects, report.assets));
  return 0;
}

int run(Context& context, Options& options) {
  const SessionSettings& settings = context.configuration.session;
  const auto store = open_existing_store(settings);
  if (options.undo) return undo(context, *store);
  CollectPolicy& policy = options.policy;
  if (policy.size_low && !policy.size_max) {
    throw Error(FailureKind::usage, "--low says how far to go when --max-size is exceeded", "give --max-size as well");
  }
  if (policy.size_low && *policy.size_low > *policy.size_max) {
    throw Error(FailureKind::usage, "--low is more than --max-size", "give less");
  }
  policy.older_than = parse_age(options.older_than, "--older-than");
  policy.grace = parse_age(options.grace, "--grace").value_or(policy.grace);
  policy.partial_grace = parse_age(options.partial_grace, "--partials").value_or(policy.partial_grace);
  policy.idle_max = parse_age(options.idle, "--idle").value_or(policy.idle_max);
  policy.undo_window = parse_age(options.window, "--window").value_or(policy.undo_window);
  const AssetNames names(make_catalogue(settings), source_names(settings));
  const CollectReport report = collect(*store, policy, context.stop);
  if (context.presentation.json) {
    context.out.record(record_of(report, names, policy.dry_run));
  } else {
    print(context, report, names, policy.dry_run);
  }
  return 0;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  CollectPolicy& policy = options->policy;
  set.size(
      "--max-size", "SIZE", policy.size_max,
      "when objects take more (and clones and quarantine, which go first), the least recently used assets go until "
      "they do not");
  set.size("--low", "SIZE", policy.size_low, "... until they take this (default: SIZE of --max-size)");
  set.option("--older-than", "TIME", options->older_than, "assets that were not used for so long go, e.g. 30d, 12h");
  set.flag("-n,--dry-run", policy.dry_run, "say what would go, with names and sizes, and change nothing");
  set.flag("--now", policy.now, "delete what is collected in the same call: nothing to take back");
  set.flag("--undo", options->undo, "take back all that is still in the trash");
  set.flag("--force-local", policy.force_local, "also the last copy of what no source can restore");
  set.option("--grace", "TIME", options->grace, "what no asset names stays for so long (default: 24h)");
  set.option("--partials", "TIME", options->partial_grace,
             "what interrupted fetches left stays for so long (default: 7d)");
  set.option("--idle", "TIME", options->idle,
             "what is in quarantine, git clones and indexes of archives stay unused for so long (default: 30d)");
  set.option("--window", "TIME", options->window, "how long the trash can be taken back (default: 24h)");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_gc
}  // namespace

constexpr Verb gc_verb{
    "gc",
    "make room: collect what is not used",
    "sabath gc                                 what no asset names, and what dead fetches left\n"
    "sabath gc --max-size 2TB --dry-run        which assets would go, least recently used first\n"
    "sabath gc --max-size 2TB --low 1.5TB      let them go\n"
    "sabath gc --older-than 60d --now          what was not used for 60 days, and free the room at once\n"
    "sabath gc --undo                          take the last collection back",
    "Pinned assets, and those that a fetch, a stage or a run uses, never go; nor does the last copy of what no source "
    "can restore (a local copy, a file:// source), but with --force-local. What goes is moved to the store's trash and "
    "deleted by a later gc, when the window is over and nobody has missed it. It is safe to run beside everything "
    "else.",
    true,
    cmd_gc::declare,
};

}  // namespace sabath::cli
