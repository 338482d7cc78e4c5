#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/metalink.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "session/publish_as.h"
#include "verbs/assets.h"
#include "verbs/kept_root.h"

namespace sabath::cli {
namespace {
namespace cmd_manifest_export {

struct Options {
  std::string manifest, metalink, links, bag;
  std::vector<std::string> urls;
};

std::vector<Url> parse_prefixes(const std::vector<std::string>& texts) {
  std::vector<Url> urls;
  for (const auto& text : texts) {
    auto url = Url::try_parse(text);
    if (!url || !text.ends_with('/')) {
      throw Error(FailureKind::usage, fmt::format("--url {} is no URL that ends in '/'", printable(text)),
                  "the files stand at URL + path, e.g. --url https://data.example.org/set/");
    }
    urls.push_back(std::move(*url));
  }
  return urls;
}

int run(Context& context, const Options& options) {
  const auto chosen = {&options.metalink, &options.links, &options.bag};
  if (std::ranges::count_if(chosen, [](const std::string* file) { return !file->empty(); }) != 1)
    throw Error(FailureKind::usage, "manifest export needs one of --metalink FILE, --links FILE and --bag DIR");
  const Publication publication{
      .below = parse_prefixes(options.urls), .agent = "sabath/" SABATH_VERSION, .stop = context.stop};
  if (options.bag.empty() && publication.below.empty())
    throw Error(FailureKind::usage, "a metalink says where files are: name it with --url",
                "e.g. --url https://data.example.org/set/, again for each mirror");
  if (!options.bag.empty() && publication.below.size() > 1)
    throw Error(FailureKind::usage, "a bag says one place for each file: give --url once");
  const SessionSettings& settings = context.configuration.session;
  const Manifest manifest = find_manifest(options.manifest, settings);
  const auto store = open_existing_store(settings);
  const std::string& written = **std::ranges::find_if(chosen, [](const std::string* file) { return !file->empty(); });
  if (!options.bag.empty()) {
    write_bag(*store, manifest, options.bag, publication);
  } else {
    const auto files = described_files(*store, manifest, publication);
    write_text_atomically(written,
                          options.links.empty() ? write_metalink(files, publication.agent) : write_links(files));
  }
  if (context.presentation.json) {
    context.out.record({{"schema", 1},
                        {"manifest", manifest.root().prefixed()},
                        {"written", written},
                        {"files", manifest.totals().files},
                        {"bytes", manifest.totals().bytes},
                        {"exit", 0}});
    return 0;
  }
  context.say(fmt::format("{}: {} files", written, manifest.totals().files));
  return 0;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("MANIFEST", options->manifest, "an asset in the store, sha256:HEX of the store, or a manifest file");
  set.option("--metalink", "FILE", options->metalink, "write a metalink (RFC 5854)");
  set.option("--links", "FILE", options->links, "write the headers Link and Digest of each file (RFC 6249)");
  set.option("--bag", "DIR", options->bag, "write a BagIt bag (RFC 8493)");
  set.option("--url", "URL", options->urls, "the files stand at URL + path; again for more mirrors");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_manifest_export
}  // namespace

constexpr Verb manifest_export_verb{
    "manifest export",
    "write what a manifest names as a metalink, as Link headers, or as a bag",
    "sabath manifest export mini --metalink mini.meta4 --url https://a.example/mini/\n"
    "sabath manifest export mini --links mini.txt --url https://b.example/mini/   what a server says\n"
    "sabath manifest export mini --bag mini-bag/\n"
    "sabath manifest export mini --bag mini-bag/ --url https://a.example/mini/   without payload",
    "The content must be in the store: it is read, checked and hashed. Other tools read all three; `sabath fetch` does "
    "as well, by a file_list whose URL is the metalink's, or metalink+ and that of the file whose server sends the "
    "headers, or that of the bag's bagit.txt.",
    true,
    cmd_manifest_export::declare,
};

}  // namespace sabath::cli
