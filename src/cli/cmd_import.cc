#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "cli/render.h"
#include "cli/verbs.h"
#include "fetch/source_key.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/assets.h"
#include "verbs/bundle_files.h"

namespace sabath::cli {
namespace {
namespace cmd_import {

struct Options {
  std::string file;
  std::vector<std::string> names;
};

// Who names an asset trusts the bundle for it. Nothing else of what a bundle says about sources is believed.
void learn(Context& context, Store& store, const std::string& name, const Imported& imported) {
  const Recipe recipe = make_catalogue(context.configuration.session).find(name, std::nullopt);
  const auto found = std::ranges::find(imported.assets, recipe.name, [](const auto& a) { return a.asset.name; });
  if (found == imported.assets.end()) {
    throw Error(FailureKind::not_found, fmt::format("the bundle has no {}", printable(name)),
                "`sabath import FILE` alone says what it has");
  }
  const Sha256& root = found->asset.root;
  if (recipe.manifest && recipe.manifest->digest != root) {
    throw Error(FailureKind::content,
                fmt::format("the bundle has {} as {}, and its recipe pins {}", printable(name), root.prefixed(),
                            recipe.manifest->digest.prefixed()),
                "it is another version");
  }
  if (recipe.manifest || found->missing_files > 0) return;
  sabath::learn(store, recipe, {root, "bundle", {}, std::time(nullptr), source_of(recipe), ""});
}

// What nobody has named yet is an asset all the same: no collection takes it, for no source is known.
void keep(Store& store, const Imported& imported) {
  for (const auto& asset : imported.assets) {
    if (asset.missing_files > 0) continue;
    store.put_ref(bundle_key(asset.asset.root), {asset.asset.root, "bundle", {}, std::time(nullptr), "", ""});
  }
}

nlohmann::ordered_json to_json(const Imported& imported) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const auto& asset : imported.assets) {
    all.push_back({{"name", asset.asset.name},
                   {"manifest", asset.asset.root.prefixed()},
                   {"files", asset.files},
                   {"bytes", asset.bytes},
                   {"missing_files", asset.missing_files},
                   {"missing", asset.missing}});
  }
  return all;
}

int run(Context& context, const Options& options) {
  const auto store = open_stores(context.configuration.session);
  const Fd file = options.file == "-" ? Fd() : open_file(options.file, O_RDONLY);
  if (file) store->admit(options.file, printable(options.file));
  const auto progress = context.make_progress();
  progress->on(event::AssetStarted{"import", std::nullopt, 0});
  const Imported imported = read_bundle(
      *store, options.file == "-" ? 0 : file.get(),
      [&](std::uint64_t bytes) {
        progress->on(event::BytesReceived{0, bytes});
      },
      context.stop);
  keep(*store, imported);
  for (const auto& name : options.names) learn(context, *store, name, imported);
  const bool whole = std::ranges::all_of(imported.assets, [](const auto& a) { return a.missing_files == 0; });
  const int exit = whole ? 0 : exit_code(FailureKind::partial);
  if (context.presentation.json) {
    context.out.record({{"schema", 1},
                        {"assets", to_json(imported)},
                        {"bundle_bytes", imported.bundle_bytes},
                        {"copied_bytes", imported.copied_bytes},
                        {"present_bytes", imported.present_bytes},
                        {"exit", exit}});
    return exit;
  }
  for (const auto& asset : imported.assets) {
    context.out.print(fmt::format("{}  {}\n", asset.asset.root.prefixed(), asset.asset.name));
    for (const auto& path : asset.missing) context.say(fmt::format("missing: {}", printable(path)));
    if (asset.missing_files > 0) {
      context.say(fmt::format("{} of {} files of {} are missing: `sabath want {} -o LIST`, and export by it",
                              asset.missing_files, asset.files, asset.asset.name, asset.asset.name));
    }
  }
  return exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("FILE", options->file, "a bundle, - for standard input");
  set.arguments("NAME", options->names, false,
                "assets of the bundle that it is trusted for: what `sabath fetch NAME` takes from now on");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_import
}  // namespace

constexpr Verb import_verb{
    "import",
    "take a bundle into the store, verified",
    "sabath import climate.tar && sabath fetch climate --offline      its recipe pins it\n"
    "sabath import climate.tar climate                                it does not: trust the bundle\n"
    "zstd -dc climate.tar.zst | sabath import -",
    "Nothing is published but what its hash proves; chunks that are not in the bundle and stand in other objects are "
    "copied "
    "from there. What an interrupted import has verified is kept. Exit code 8 when something is missing in the end.",
    false,
    cmd_import::declare,
};

}  // namespace sabath::cli
