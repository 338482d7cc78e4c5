#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/pins.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_unpin {

int run(Context& context, const UnpinRequest& request) {
  Session session(context.configuration.session);
  NoEvents unheard;
  UnpinRecord record;
  for (const auto& name : request.names) {  // one by one: what may go is said, even if the next is not pinned
    for (auto& gone : unpin(session, {{name}}, unheard, context.stop).unpinned) {
      const std::string& as = gone.name.empty() ? name : gone.name;
      context.say(fmt::format("{} is not pinned any more: {}", printable(as), gone.manifest));
      record.unpinned.push_back(std::move(gone));
    }
  }
  if (context.presentation.json) context.out.record(json_of(record));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto request = std::make_shared<UnpinRequest>();
  set.arguments("NAME", request->names, true, "as it was pinned, or its root as sha256:<hex>");
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_unpin
}  // namespace

constexpr Verb unpin_verb{
    "unpin",
    "let a pinned asset go when room is needed",
    "sabath unpin cosmoflow_mini\n"
    "sabath unpin sha256:5f0c...",
    "Nothing is deleted: `sabath gc` may take it from now on.",
    false,
    cmd_unpin::declare,
};

}  // namespace sabath::cli
