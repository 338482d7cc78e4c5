#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/render.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "verbs/assets.h"
#include "verbs/bundle_files.h"

namespace sabath::cli {
namespace {
namespace cmd_want {

struct Options {
  std::vector<std::string> names;
  std::string output;
};

int run(Context& context, const Options& options) {
  const SessionSettings& settings = context.configuration.session;
  const auto store = open_stores(settings);
  std::vector<WantedAsset> assets;
  for (const auto& name : options.names) {
    const BundledAsset asset = bundled_asset(name, settings, *store);
    assets.push_back({asset.name, asset.root});
  }
  const WantList list = make_want_list(*store, std::move(assets));
  const std::string bytes = encode_want_list(list);
  OutputFile output(options.output);
  write_all(output.fd(), std::as_bytes(std::span(bytes)), options.output);
  output.finish();
  const bool missing = list.kind == WantList::Kind::missing;
  if (context.presentation.json && !output.standard()) {
    context.out.record({{"schema", 1},
                        {"file", options.output},
                        {"assets", list.assets.size()},
                        {"kind", missing ? "missing" : "have"},
                        {"pieces", list.pieces.size()},
                        {"exit", 0}});
  }
  context.say(missing ? fmt::format("{} pieces are missing; take {} to a machine that has them: sabath export --want",
                                    list.pieces.size(), options.output)
                      : fmt::format("not all manifests are here, so {} says what is: {} pieces", options.output,
                                    list.pieces.size()));
  return 0;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.arguments("NAME", options->names, true, "an asset, or its root as sha256:<hex>");
  set.option("-o,--output", "FILE", options->output, "the want-list to write, - for standard output");
  return [options](Context& context) {
    if (options->output.empty()) throw Error(FailureKind::usage, "where the want-list goes is not said", "-o FILE");
    return run(context, *options);
  };
}

}  // namespace cmd_want
}  // namespace

constexpr Verb want_verb{
    "want",
    "say what this store lacks of an asset, for `sabath export` on another machine",
    "sabath want climate -o climate.want             here, without a network\n"
    "sabath export --want climate.want -o climate.tar   there\n"
    "sabath import climate.tar                       here again",
    "Where the manifest of an asset is here, the list names the chunks that are missing; else it names what the store "
    "has, "
    "so that only the rest is sent. 16 bytes for each chunk of 4 MiB and each smaller file.",
    false,
    cmd_want::declare,
};

}  // namespace sabath::cli
