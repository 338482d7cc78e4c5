#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/counted.h"
#include "base/text.h"
#include "cli/show/age.h"
#include "cli/show/render.h"
#include "cli/verbs.h"
#include "sabath/collection.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_gc {

struct Options {
  CollectionRequest request;
  std::optional<std::string> older_than, grace, partial_grace, idle, window;
  bool undo = false;
};

// Who keeps what the request would have had go; and the command by which root frees it.
void tell_keepers(Context& context, const Options& options, const CollectionRecord& record) {
  bool unused = false;
  for (const auto& keeper : record.keepers) {
    context.say(fmt::format("{} keeps {} of {}, of them {} that no member uses", keeper.who, format_bytes(keeper.bytes),
                            counted(keeper.assets, "asset"), format_bytes(keeper.unused_bytes)));
    unused = unused || keeper.unused_bytes > 0;
  }
  if (!unused) return;
  const CollectionRequest& request = options.request;
  std::string line = "sabath gc --store " + shell_word(context.configuration.session.store.string());
  if (request.size_max) line += fmt::format(" --max-size {}", *request.size_max);
  if (request.size_low) line += fmt::format(" --low {}", *request.size_low);
  if (options.older_than) line += " --older-than " + *options.older_than;
  context.say(fmt::format("hint: views of other members are root's to remove: {}", line));
}

void print(Context& context, const Options& options, const CollectionRecord& record) {
  const bool dry_run = record.dry_run;
  Table table({"ASSET", "SIZE", "FREES", "LAST USED", dry_run ? "WOULD GO, FOR" : "GONE, FOR"});
  const std::int64_t now = unix_time();
  const auto row = [&](const CollectedAsset& asset, const std::string& why) {
    table.add(
        {asset.name, format_bytes(asset.bytes), format_bytes(asset.freed_bytes), format_ago(asset.used_ns, now), why});
  };
  for (const auto& asset : record.collected) row(asset, asset.why);
  for (const auto& asset : record.kept) {
    const bool ends = asset.until_ns != 0 && asset.until_ns != INT64_MAX;
    row(asset, fmt::format("stays: {}{}", asset.why, ends ? " until " + format_day(asset.until_ns) : ""));
  }
  for (const auto& other : record.others) {
    table.add(
        {other.name, format_bytes(other.bytes), format_bytes(other.bytes), format_ago(other.used_ns, now), other.why});
  }
  if (!table.empty()) context.out.print(table.text({1, 2}, 0));
  context.say(fmt::format("{} of {} in the store; {} {} of {}, of them {} that no asset names; {}, {}",
                          counted(record.objects, "object"), format_bytes(record.object_bytes),
                          dry_run ? "would collect" : "collected", counted(record.collected_objects, "object"),
                          format_bytes(record.collected_bytes), format_bytes(record.unnamed_bytes),
                          counted(record.partials, "stale partial"), format_bytes(record.partial_bytes)));
  if (record.restored > 0) context.say(fmt::format("{} taken back: in use again", counted(record.restored, "file")));
  if (record.deleted_batches > 0)
    context.say(fmt::format("deleted from the trash: {}", format_bytes(record.deleted_bytes)));
  tell_keepers(context, options, record);
  for (const auto& why : record.waiting) context.say("note: " + why);
  for (const auto& note : record.notes) context.warn(note);
  const bool in_trash =
      !dry_run && record.collected_objects + record.partials + record.others.size() > 0 && record.deleted_batches == 0;
  if (in_trash) context.say("hint: sabath gc --undo takes it back; --now frees the room at once");
}

int undo(Context& context, Session& session) {
  NoEvents unheard;
  const UndoRecord record = undo_collection(session, {}, unheard, context.stop);
  if (context.presentation.json) context.out.record(json_of(record));
  context.say(fmt::format("taken back: {}, {}", counted(record.objects, "object"), counted(record.assets, "asset")));
  return record.exit;
}

int run(Context& context, Options& options) {
  Session session(context.configuration.session);
  if (options.undo) return undo(context, session);
  CollectionRequest& request = options.request;
  request.older_than = parse_age(options.older_than, "--older-than");
  request.grace = parse_age(options.grace, "--grace");
  request.partial_grace = parse_age(options.partial_grace, "--partials");
  request.idle_max = parse_age(options.idle, "--idle");
  request.undo_window = parse_age(options.window, "--window");
  NoEvents unheard;
  const CollectionRecord record = collect(session, request, unheard, context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
  } else {
    print(context, options, record);
  }
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  CollectionRequest& request = options->request;
  set.size(
      "--max-size", "SIZE", request.size_max,
      "when objects take more (and clones and quarantine, which go first), the least recently used assets go until "
      "they do not");
  set.size("--low", "SIZE", request.size_low, "... until they take this (default: SIZE of --max-size)");
  set.option(
      "--older-than", "TIME", options->older_than,
      "assets that were not used for so long go, e.g. 30d, 12h; of a shared store, so long one counts as used by the "
      "other members who have it (default: 30d)");
  set.flag("-n,--dry-run", request.dry_run, "say what would go, with names and sizes, and change nothing");
  set.flag("--now", request.now, "delete what is collected in the same call: nothing to take back");
  set.flag("--undo", options->undo, "take back all that is still in the trash");
  set.flag("--force-local", request.force_local, "also the last copy of what no source can restore");
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
    "Kept assets (`sabath keep`), and those that a fetch, a stage or a run uses, never go; nor does the last copy of "
    "what no source "
    "can restore (a local copy, a file:// source), but with --force-local. What goes is moved to the store's trash and "
    "deleted by a later gc, when the window is over, unless --undo took it back. Of a shared store a member's gc lets "
    "his own views go, and root's those of all, if no member has used the asset for 30 days (--older-than). It is safe "
    "to "
    "run beside everything else.",
    true,
    cmd_gc::declare,
};

}  // namespace sabath::cli
