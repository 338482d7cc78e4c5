#include <fmt/format.h>

#include "base/clock.h"
#include "base/counted.h"
#include "base/text.h"
#include "cli/described.h"
#include "cli/show/age.h"
#include "cli/show/render.h"
#include "cli/verbs.h"
#include "sabath/verbs/gc.h"
#include "verbs/care/gc_call.h"

namespace sabath::cli {
namespace {
namespace cmd_gc {

// Who keeps what the request would have had go; and the command by which root frees it.
void tell_keepers(Context& context, const CollectionRequest& request, const CollectionRecord& record) {
  bool unused = false;
  for (const auto& keeper : record.keepers) {
    context.say(fmt::format("{} keeps {} of {}, of them {} that no member uses", keeper.who, format_bytes(keeper.bytes),
                            counted(keeper.assets, "asset"), format_bytes(keeper.unused_bytes)));
    unused = unused || keeper.unused_bytes > 0;
  }
  if (!unused) return;
  std::string line = "sabath gc --store " + shell_word(context.configuration.session.store.string());
  if (request.size_max) line += fmt::format(" --max-size {}", *request.size_max);
  if (request.size_low) line += fmt::format(" --low {}", *request.size_low);
  if (request.older_than) line += " --older-than " + format_span(*request.older_than);
  context.say(fmt::format("hint: views of other members are root's to remove: {}", line));
}

void print(Context& context, const CollectionRequest& request, const CollectionRecord& record) {
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
  tell_keepers(context, request, record);
  for (const auto& why : record.waiting) context.say("note: " + why);
  for (const auto& note : record.notes) context.warn(note);
  const bool in_trash =
      !dry_run && record.collected_objects + record.partials + record.others.size() > 0 && record.deleted_batches == 0;
  if (in_trash) context.say("hint: sabath gc --undo takes it back; --now frees the space at once");
}

int undo(Context& context, Session& session) {
  NoEvents unheard;
  const UndoRecord record = undo_gc(session, {}, unheard, context.stop);
  if (context.presentation.json) context.out.record_text(to_json(record));
  context.say(fmt::format("taken back: {}, {}", counted(record.objects, "object"), counted(record.assets, "asset")));
  return record.exit;
}

int run(Context& context, const CollectionCall& request) {
  check_undo(request);
  Session session(context.configuration.session);
  if (request.undo) return undo(context, session);
  NoEvents unheard;
  const CollectionRecord record = gc(session, request, unheard, context.stop);
  if (context.presentation.json) {
    context.out.record_text(to_json(record));
  } else {
    print(context, request, record);
  }
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto request = std::make_shared<CollectionCall>();
  declare_fields(set, *request);
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_gc
}  // namespace

constexpr Verb gc_verb{
    .name = "gc",
    .summary = "free space: collect what is not used",
    .examples =
        "sabath gc                                 what no asset names, and what dead fetches left\n"
        "sabath gc --max-size 2TB --dry-run        which assets would go, least recently used first\n"
        "sabath gc --max-size 2TB --low 1.5TB      let them go\n"
        "sabath gc --older-than 60d --now          what was not used for 60 days, and free the space at once\n"
        "sabath gc --undo                          take the last collection back",
    .details =
        "Kept assets (`sabath keep`), and those that a fetch, a stage or a run uses, never go; nor does the last copy "
        "of what no source can restore (a local copy, a file:// source), unless --force-local is given. Collected "
        "assets go to the store's trash: `sabath gc --undo` takes them back, and a gc after --window deletes them; "
        "only "
        "then their space is free (--now frees it at once). In a shared store your gc removes your own views, and "
        "root's gc those of all members, of assets that no member has used for 30 days (--older-than). It is safe to "
        "run beside everything else.",
    .keeps_state = true,
    .declare = cmd_gc::declare,
};

}  // namespace sabath::cli
