#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/pins.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_pin {

PinRecord list(Context& context, Session& session) {
  NoEvents unheard;
  PinRecord record = pin(session, {}, unheard, context.stop);
  if (context.presentation.json) return record;
  for (const auto& kept : record.pins) {
    context.out.print(fmt::format("{}  {}\n", kept.manifest, printable(kept.name)));
  }
  return record;
}

// One by one: each pinned asset is printed, even if the next cannot be pinned.
PinRecord keep(Context& context, Session& session, const std::vector<std::string>& names) {
  NoEvents unheard;
  PinRecord record;
  for (const auto& name : names) {
    for (auto& kept : pin(session, {{name}}, unheard, context.stop).pins) {
      context.say(fmt::format("{} is kept: {}", printable(name), kept.manifest));
      record.pins.push_back(std::move(kept));
    }
  }
  return record;
}

int run(Context& context, const PinRequest& request) {
  Session session(context.configuration.session);
  const PinRecord record = request.names.empty() ? list(context, session) : keep(context, session, request.names);
  if (context.presentation.json) context.out.record(json_of(record));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto request = std::make_shared<PinRequest>();
  set.arguments("NAME", request->names, false,
                "an asset of the store, or its root as sha256:<hex>; none: list the pins");
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_pin
}  // namespace

constexpr Verb pin_verb{
    "pin",
    "keep an asset: gc never collects it",
    "sabath pin cosmoflow_mini\n"
    "sabath pin sha256:5f0c...            one version of an asset, by its root\n"
    "sabath pin                           what is kept",
    "A pin keeps the version that the store holds now; another version, fetched later, needs a pin of its own. "
    "`sabath unpin` lets it go.",
    false,
    cmd_pin::declare,
};

}  // namespace sabath::cli
