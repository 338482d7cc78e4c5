#include <fmt/format.h>

#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/keep.h"

namespace sabath::cli {
namespace {
namespace cmd_unkeep {

int run(Context& context, const UnkeepRequest& request) {
  Session session(context.configuration.session);
  NoEvents unheard;
  UnkeepRecord record;
  for (const auto& name : request.names) {  // one by one: what may go is said, even if the next is not kept
    for (auto& gone : unkeep(session, {{name}}, unheard, context.stop).unkept) {
      const std::string& as = gone.name.empty() ? name : gone.name;
      context.say(fmt::format("{} is not kept any more: {}", printable(as), gone.manifest));
      record.unkept.push_back(std::move(gone));
    }
  }
  if (context.presentation.json) context.out.record_text(to_json(record));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto request = std::make_shared<UnkeepRequest>();
  declare_fields(set, *request);
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_unkeep
}  // namespace

constexpr Verb unkeep_verb{
    .name = "unkeep",
    .summary = "let gc collect a kept asset again",
    .examples =
        "sabath unkeep deepcam_mini\n"
        "sabath unkeep sha256:5f0c...",
    .details = "Nothing is deleted: `sabath gc` may take it from now on.",
    .declare = cmd_unkeep::declare,
};

}  // namespace sabath::cli
