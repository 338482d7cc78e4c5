#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "sabath/keeping.h"
#include "sabath/path.h"
#include "verbs/records.h"

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
  if (context.presentation.json) context.out.record(json_of(record));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto request = std::make_shared<UnkeepRequest>();
  set.arguments("NAME", request->names, true, "as it was kept, or its root as sha256:<hex>");
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_unkeep
}  // namespace

constexpr Verb unkeep_verb{
    "unkeep",
    "let a kept asset go when room is needed",
    "sabath unkeep deepcam_mini\n"
    "sabath unkeep sha256:5f0c...",
    "Nothing is deleted: `sabath gc` may take it from now on.",
    false,
    cmd_unkeep::declare,
};

}  // namespace sabath::cli
