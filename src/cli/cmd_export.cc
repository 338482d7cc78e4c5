#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/render.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/assets.h"
#include "verbs/bundle_files.h"
#include "verbs/kept_root.h"

namespace sabath::cli {
namespace {
namespace cmd_export {

struct Options {
  std::vector<std::string> names;
  std::string output;
  std::optional<std::string> want, have;
};

// A root that the other side names is what it wants; a name alone means what this store has under it.
std::vector<BundledAsset> chosen(const Options& options, const WantList* list, const SessionSettings& settings,
                                 Store& store) {
  std::vector<BundledAsset> assets;
  for (const auto& name : options.names) assets.push_back(bundled_asset(name, settings, store));
  if (assets.empty() && list != nullptr) {
    for (const auto& wanted : list->assets) {
      const bool by_root = wanted.root != Sha256{} && store.manifest(wanted.root);
      assets.push_back(by_root ? BundledAsset{wanted.name, "", "", wanted.root}
                               : bundled_asset(wanted.name, settings, store));
    }
  }
  if (assets.empty() || assets.size() > bundle_assets_max) {
    throw Error(FailureKind::usage, "what to export is not said", "sabath export NAME -o FILE, or --want LIST");
  }
  for (const auto& asset : assets) {
    if (asset.root == Sha256{} || !store.manifest(asset.root)) {
      throw Error(FailureKind::offline, fmt::format("the store does not hold {}", printable(asset.name)),
                  fmt::format("sabath fetch {}", printable(asset.name)));
    }
  }
  return assets;
}

int run(Context& context, const Options& options) {
  if (options.want && options.have) {
    throw Error(FailureKind::usage, "--want and --have say the same in two ways", "give one of them");
  }
  const SessionSettings& settings = context.configuration.session;
  const auto store = open_existing_store(settings);
  const auto& file = options.want ? options.want : options.have;
  const auto list = file ? std::optional(read_want_list(*file)) : std::nullopt;
  if (options.have && list->kind != WantList::Kind::have) {
    throw Error(FailureKind::usage, fmt::format("{} names what is missing, not what is there", printable(*file)),
                "--want takes it");
  }
  const auto assets = chosen(options, options.want ? &*list : nullptr, settings, *store);
  std::vector<Sha256> roots;
  for (const auto& asset : assets) roots.push_back(asset.root);
  const Lease lease = store->lease(roots, "export");
  OutputFile output(options.output);
  const auto progress = context.make_progress();
  progress->on(event::AssetStarted{"export", std::nullopt, 0});
  const BundleHead head = write_bundle(
      *store, assets, list ? &*list : nullptr, output.fd(),
      [&](std::uint64_t bytes) {
        progress->on(event::BytesReceived{0, bytes});
      },
      context.stop);
  output.finish();
  if (context.presentation.json && !output.standard()) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const auto& asset : assets) all.push_back({{"name", asset.name}, {"manifest", asset.root.prefixed()}});
    context.out.record({{"schema", 1},
                        {"file", options.output},
                        {"assets", all},
                        {"members", head.runs},
                        {"bytes", head.bytes},
                        {"exit", 0}});
  }
  context.say(fmt::format("{} of content in {} members", format_bytes(head.bytes), head.runs));
  return 0;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.arguments("NAME", options->names, false,
                "an asset of the store, or its root as sha256:<hex>; none: as --want says");
  set.option("-o,--output", "FILE", options->output, "the bundle to write, - for standard output");
  set.option("--want", "LIST", options->want, "only what this want-list asks for");
  set.option("--have", "LIST", options->have, "not what this list says is there");
  return [options](Context& context) {
    if (options->output.empty()) throw Error(FailureKind::usage, "where the bundle goes is not said", "-o FILE");
    return run(context, *options);
  };
}

}  // namespace cmd_export
}  // namespace

constexpr Verb export_verb{
    "export",
    "write assets into one tar, for a machine without a network",
    "sabath export climate -o climate.tar\n"
    "sabath export --want climate.want -o delta.tar     only what the other side lacks\n"
    "sabath export climate -o - | ssh other sabath import -",
    "Each chunk is hashed as it is read. docs/bundles.md is the format. A bundle may be compressed on its way (gzip, "
    "zstd, "
    "xz, bzip2): `import` reads that too.",
    false,
    cmd_export::declare,
};

}  // namespace sabath::cli
