#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/render.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/pins.h"
#include "verbs/assets.h"
#include "verbs/kept_root.h"

namespace sabath::cli {
namespace {
namespace cmd_pin {

struct Options {
  std::vector<std::string> names;
};

int list(Context& context) {
  const auto store = try_open_store(context.configuration.session);
  const auto pins = store ? read_pins(*store) : std::vector<Pin>();
  if (context.presentation.json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const auto& pin : pins) {
      all.push_back({{"name", text_or_null(pin.name)}, {"manifest", pin.root.prefixed()}, {"time", pin.time}});
    }
    context.out.record({{"schema", 1}, {"pins", all}, {"exit", 0}});
    return 0;
  }
  for (const auto& pin : pins) {
    context.out.print(fmt::format("{}  {}\n", pin.root.prefixed(), printable(pin.name)));
  }
  return 0;
}

int run(Context& context, const Options& options) {
  if (options.names.empty()) return list(context);
  const auto store = open_existing_store(context.configuration.session);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const auto& name : options.names) {
    const Sha256 root = kept_root(name, context.configuration.session, *store);
    // In use before it is looked at, so that no collection takes it between the two.
    const Lease lease = store->lease({root}, "pin " + name);
    if (!store->manifest(root)) {
      throw Error(FailureKind::offline, fmt::format("the store does not hold {}", printable(name)),
                  fmt::format("sabath fetch {}", printable(name)));
    }
    put_pin(*store, {root, name, std::time(nullptr)});
    context.say(fmt::format("{} is kept: {}", printable(name), root.prefixed()));
    all.push_back({{"name", name}, {"manifest", root.prefixed()}});
  }
  if (context.presentation.json) context.out.record({{"schema", 1}, {"pins", all}, {"exit", 0}});
  return 0;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.arguments("NAME", options->names, false,
                "an asset of the store, or its root as sha256:<hex>; none: list the pins");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_pin
}  // namespace

constexpr Verb pin_verb{
    "pin",
    "keep an asset, whatever is collected",
    "sabath pin cosmoflow_mini\n"
    "sabath pin sha256:5f0c...            one version of an asset, by its root\n"
    "sabath pin                           what is kept",
    "A pin keeps the version that the store holds now; another version, fetched later, needs a pin of its own. "
    "`sabath unpin` lets it go.",
    false,
    cmd_pin::declare,
};

}  // namespace sabath::cli
