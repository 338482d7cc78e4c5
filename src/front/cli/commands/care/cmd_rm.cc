#include <fmt/format.h>
#include <memory>
#include <utility>

#include "base/text.h"
#include "cli/described.h"
#include "cli/show/age.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/rm.h"

namespace sabath::cli {
namespace {
namespace cmd_rm {

// Why the content stays in a shared store, and what frees it.
std::string whose(const RemovedContent& gone) {
  constexpr auto root_frees = "root's `sabath gc --max-size SIZE` frees them";
  if (gone.until_ns == 0) return fmt::format("unused, but in a view of {}: {}", gone.used_by, root_frees);
  if (gone.until_ns == INT64_MAX) return "in use by " + gone.used_by;
  return fmt::format("in use by {} until {}, if no member uses them again: then {}", gone.used_by,
                     format_day(gone.until_ns), root_frees);
}

void tell(const Context& context, const RemovedContent& gone) {
  const std::string name = printable(gone.name);
  if (!gone.kept.empty()) {
    context.say(fmt::format("{}: nothing was freed: {}", name, gone.kept));
  } else if (gone.trash_bytes > 0) {
    context.say(fmt::format("{}: {} moved to the trash, as {}", name, format_bytes(gone.trash_bytes),
                            gone.waiting.empty() ? "no source can restore it" : gone.waiting));
    context.say("hint: sabath gc --undo takes it back; sabath gc --now frees the space");
  } else if (!gone.manifest.empty()) {
    const std::string stay = gone.used_by.empty() ? ""
                                                  : fmt::format(": your view and your name of it are gone; {} stay, {}",
                                                                format_bytes(gone.used_bytes), whose(gone));
    context.say(fmt::format("{}: {} freed{}", name, format_bytes(gone.freed_bytes), stay));
  }
  if (gone.parts > 0) {
    context.say(fmt::format("{}: with {} of it that --sample or --select had chosen", name,
                            gone.parts == 1 ? "a part" : fmt::format("{} parts", gone.parts)));
  }
  if (gone.shared_bytes > 0) {
    context.say(fmt::format("{}: {} stay, as other assets need them", name, format_bytes(gone.shared_bytes)));
  }
  if (gone.forgotten) context.say(fmt::format("{}: the name is free", name));
}

int run(Context& context, RemovalRequest& request) {
  Session session(context.configuration.session);
  NoEvents unheard;
  RemovalRecord record;
  for (const auto& name : std::exchange(request.names, {})) {  // one by one: what went is said, even if the next stays
    request.names = {name};
    for (auto& gone : rm(session, request, unheard, context.stop).assets) {
      tell(context, gone);
      record.assets.push_back(std::move(gone));
    }
  }
  if (context.presentation.json) context.out.record_text(to_json(record));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto request = std::make_shared<RemovalRequest>();
  declare_fields(set, *request);
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_rm
}  // namespace

constexpr Verb rm_verb{
    .name = "rm",
    .summary = "remove an asset from the store; its recipe stays",
    .examples =
        "sabath rm mnist                       its content; its recipe stays, and `sabath fetch` brings it again\n"
        "sabath du mnist                       what that would free\n"
        "sabath rm --forget climate            also the name that `sabath adopt` made known",
    .details =
        "What other assets need stays, and so do recipes. A kept asset is refused until `sabath unkeep` lets it go, "
        "and one that your fetch, stage or run uses until that has ended. Of a shared store your own view and name go "
        "at once; what other members use stays, and it is said whose use that is, and until when it counts. What a "
        "source can bring again is deleted at once; what no source can restore (a local copy, a bundle, a file:// "
        "source) goes to the trash for a day, unless --now says otherwise. The files of `sabath adopt` are not "
        "touched: they are the user's. Parts that --sample or --select fetched go with the asset, also where they are "
        "all of it that is here.",
    .keeps_state = true,
    .declare = cmd_rm::declare,
};

}  // namespace sabath::cli
