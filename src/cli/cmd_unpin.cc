#include <fmt/format.h>

#include <algorithm>
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
namespace cmd_unpin {

struct Options {
  std::vector<std::string> names;
};

// By the name that was given when it was pinned (all versions of it), or by a root.
std::vector<Sha256> pinned_as(const std::string& name, const std::vector<Pin>& pins) {
  std::vector<Sha256> roots;
  const auto root = Sha256::try_parse(name);
  for (const auto& pin : pins) {
    if (pin.name == name || (root && pin.root == *root)) roots.push_back(pin.root);
  }
  return roots;
}

int run(Context& context, const Options& options) {
  const auto store = open_existing_store(context.configuration.session);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const auto& name : options.names) {
    const auto roots = pinned_as(name, read_pins(*store));
    if (roots.empty()) {
      throw Error(FailureKind::not_found, fmt::format("{} is not pinned", printable(name)),
                  "`sabath pin` lists the pins");
    }
    for (const auto& root : roots) {
      remove_pin(*store, root);
      all.push_back({{"name", name}, {"manifest", root.prefixed()}});
      context.say(fmt::format("{} may go: {}", printable(name), root.prefixed()));
    }
  }
  if (context.presentation.json) context.out.record({{"schema", 1}, {"unpinned", all}, {"exit", 0}});
  return 0;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.arguments("NAME", options->names, true, "as it was pinned, or its root as sha256:<hex>");
  return [options](Context& context) { return run(context, *options); };
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
