#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/text.h"
#include "cli/show/hub_exports.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/views.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_view {

struct Options {
  std::string name;
  std::optional<std::string> to;
  std::string as, layout = "files";
  std::string repository;
};

ViewFiles files_of(const std::string& as) {
  if (as == "link") return ViewFiles::links;
  return as == "symlink" ? ViewFiles::symlinks : ViewFiles::copies;
}

int run(Context& context, const Options& options) {
  if (!options.as.empty() && !options.to) throw Error(FailureKind::usage, "--as says how the tree of --to is made");
  const bool hub = options.layout == "hf";
  if (!options.repository.empty() && !hub) throw Error(FailureKind::usage, "--repo names what --layout hf makes");
  Session session(context.configuration.session);
  NoEvents unheard;
  const ViewRecord record = view(
      session,
      {options.name, options.to, files_of(options.as), hub ? ViewLayout::hub : ViewLayout::files, options.repository},
      unheard, context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
  } else {
    context.say(fmt::format("{}, {}", counted(record.files, "file"), format_bytes(record.bytes)));
    for (const std::string& repository : record.repositories) context.say(repository);
    context.out.print((hub ? hub_exports(record.path) : record.path.string()) + "\n");
  }
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("NAME", options->name, "an asset that was fetched");
  set.option("--to", "DIR", options->to, "write a tree of files into this new directory, outside the store");
  set.choice("--as", {"copy", "link", "symlink"}, options->as,
             "with --to: files of your own (the default), read-only hard links into the store, or symlinks to it");
  set.choice(
      "--layout", {"files", "hf"}, options->layout,
      "as the asset has them (the default), or as a cache of Hugging Face's hub: DIR may have other repositories");
  set.option("--repo", "OWNER/NAME", options->repository,
             "with --layout hf: what a tree is called that no hub gave; datasets/OWNER/NAME for a dataset");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_view
}  // namespace

constexpr Verb view_verb{
    "view",
    "make a tree of files of a fetched asset",
    "sabath view imagenet                    in the store, as `sabath path` prints it\n"
    "sabath view imagenet --to ./imagenet    a copy that is yours\n"
    "sabath view imagenet --to /scratch/i --as link\n"
    "eval \"$(sabath view bert --layout hf)\"      transformers and others find it offline (docs/huggingface.md)",
    "From 1,000 small files on an asset is kept in packs: a few large files, so that a shared filesystem is spared a "
    "million small ones. Then fetch makes no view of it without --view, and this does, if its inodes are free. On "
    "compute nodes `sabath stage` expands packs "
    "on the node's own disk instead.\n\n"
    "A tree outside the store is not known to `gc`. Copies and links outlive the asset there; `sabath "
    "keep` the asset while symlinks to it are in use, and see that a container has the store at the same path. --as "
    "link makes "
    "clones or hard links, copies on another filesystem, and symlinks to what another user put into the store. "
    "Executables, and files out of packs, are copies in any case.\n\n"
    "Exit code 9 when the asset, or a part of it, is not in the store.",
    false,
    cmd_view::declare,
};

}  // namespace sabath::cli
