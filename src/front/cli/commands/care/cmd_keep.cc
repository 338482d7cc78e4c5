#include <fmt/format.h>

#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/keep.h"

namespace sabath::cli {
namespace {
namespace cmd_keep {

KeepRecord list(Context& context, Session& session) {
  NoEvents unheard;
  KeepRecord record = keep(session, {}, unheard, context.stop);
  if (context.presentation.json) return record;
  for (const auto& kept : record.kept) {
    context.out.print(fmt::format("{}  {}\n", kept.manifest, printable(kept.name)));
  }
  return record;
}

// One by one: each kept asset is printed, even if the next cannot be kept.
KeepRecord keep_each(Context& context, Session& session, const std::vector<std::string>& names) {
  NoEvents unheard;
  KeepRecord record;
  for (const auto& name : names) {
    for (auto& kept : keep(session, {{name}}, unheard, context.stop).kept) {
      context.say(fmt::format("{} is kept: {}", printable(name), kept.manifest));
      record.kept.push_back(std::move(kept));
    }
  }
  return record;
}

int run(Context& context, const KeepRequest& request) {
  Session session(context.configuration.session);
  const KeepRecord record = request.names.empty() ? list(context, session) : keep_each(context, session, request.names);
  if (context.presentation.json) context.out.record_text(to_json(record));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto request = std::make_shared<KeepRequest>();
  declare_fields(set, *request);
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_keep
}  // namespace

constexpr Verb keep_verb{
    .name = "keep",
    .summary = "keep an asset: gc never collects it",
    .examples =
        "sabath keep deepcam_mini\n"
        "sabath keep sha256:5f0c...            one version of an asset, by its root\n"
        "sabath keep                           what is kept",
    .details =
        "The version that the store holds now is kept; another one, fetched later, is kept if it is said again. "
        "`sabath unkeep` lets it go. Which bytes a recipe means is another matter: `sabath catalogue pin` writes that.",
    .declare = cmd_keep::declare,
};

}  // namespace sabath::cli
