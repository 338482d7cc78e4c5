#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/render.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/adopt_tree.h"
#include "verbs/assets.h"

namespace sabath::cli {
namespace {
namespace cmd_adopt {

struct Options {
  std::string directory;
  std::optional<std::string> name;
  std::optional<std::uint64_t> threads;
};

std::optional<Recipe> known_recipe(const SessionSettings& settings, const std::string& name) {
  try {
    return make_catalogue(settings).find(name, std::nullopt);
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::not_found) throw;
    return std::nullopt;
  }
}

// Found by `fetch NAME` once it lies in a recipe directory. What is not there any more can only be adopted again.
nlohmann::ordered_json recipe_of(const std::string& name, const std::string& directory, const Sha256& root) {
  const std::string step = fmt::format("sabath adopt {} --name {}", directory, name);
  return {{"schema", 1},
          {"kind", "dataset"},
          {"name", name},
          {"access", {{"kind", "private"}, {"steps", {step}}}},
          {"fragments", nlohmann::ordered_json::array()},
          {"manifest", {{"digest", root.prefixed()}, {"urls", nlohmann::ordered_json::array()}}}};
}

int run(Context& context, const Options& options) {
  const SessionSettings& settings = context.configuration.session;
  const auto known = options.name ? known_recipe(settings, *options.name) : std::nullopt;
  const auto store = open_stores(settings);
  const auto progress = context.make_progress();
  progress->on(event::AssetStarted{options.directory, std::nullopt, 0});
  progress->on(event::PhaseChanged{"hash"});
  const AdoptedTree tree = adopt_tree(*store, options.directory, static_cast<unsigned>(options.threads.value_or(0)),
                                      [&](std::uint64_t bytes) {
                                        if (context.stop.stop_requested())
                                          throw Error(FailureKind::interrupted, "hashing was stopped");
                                        progress->on(event::BytesReceived{0, bytes});
                                      });
  const bool pinned = known && known->manifest;
  if (pinned && known->manifest->digest != tree.root) {
    throw Error(FailureKind::content,
                fmt::format("{} has the root {}, and the recipe of {} pins {}", printable(options.directory),
                            tree.root.prefixed(), known->name, known->manifest->digest.prefixed()),
                "it is another version: adopt it under another name");
  }
  const std::string place = std::filesystem::canonical(options.directory).string();
  const auto recipe = options.name && !pinned ? recipe_of(*options.name, place, tree.root) : nlohmann::ordered_json();
  if (context.presentation.json) {
    context.out.record({{"schema", 1},
                        {"manifest", tree.root.prefixed()},
                        {"directory", place},
                        {"files", tree.totals.files},
                        {"bytes", tree.totals.bytes},
                        {"recipe", recipe},
                        {"exit", 0}});
    return 0;
  }
  context.out.print(recipe.is_null() ? tree.root.prefixed() + "\n" : recipe.dump(2) + "\n");
  context.say(fmt::format("{}: {} files, {}, copied: nothing", printable(place), tree.totals.files,
                          format_bytes(tree.totals.bytes)));
  if (!recipe.is_null()) {
    context.say(
        fmt::format("keep what was printed as datasets/{}.json in a directory of SABATH_RECIPES; then `sabath "
                    "fetch {}` finds it",
                    *options.name, *options.name));
  }
  return 0;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("DIR", options->directory, "a directory whose files stay where they are");
  set.option("--name", "NAME", options->name, "print a recipe of this name, which `sabath fetch` understands");
  set.count("-j,--threads", "N", 1024, options->threads, "threads that read and hash (default: one a core)");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_adopt
}  // namespace

constexpr Verb adopt_verb{
    "adopt",
    "know data that is here already, without copying it",
    "sabath adopt /project/data/climate --name climate > ~/recipes/datasets/climate.json\n"
    "sabath adopt /project/data/climate          its root, for a recipe that you write",
    "Each file is read once and hashed. The store then knows where its content stands: it is not fetched again, it can "
    "be "
    "staged, and its view has symlinks to it. A file that is changed or removed later counts as missing, and is never "
    "served for what it was. Executables are copied into views.",
    false,
    cmd_adopt::declare,
};

}  // namespace sabath::cli
