#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/render.h"
#include "cli/verbs.h"
#include "fetch/asset.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/write_tree.h"
#include "verbs/assets.h"
#include "verbs/kept_root.h"

namespace sabath::cli {
namespace {
namespace cmd_view {

struct Options {
  std::string name;
  std::optional<std::string> to;
  std::string as;
};

TreeFiles files_of(const std::string& as) {
  if (as == "link") return TreeFiles::shared;
  return as == "symlink" ? TreeFiles::symlinks : TreeFiles::copies;
}

int run(Context& context, const Options& options) {
  if (!options.as.empty() && !options.to) throw Error(FailureKind::usage, "--as says how the tree of --to is made");
  const auto store = open_existing_store(context.configuration.session);
  const Sha256 root = kept_root(options.name, context.configuration.session, *store);
  const Lease lease = store->lease({root}, "view " + options.name);
  const auto manifest = store->manifest(root);
  if (!manifest || !all_present(*store, *manifest)) {
    throw Error(FailureKind::offline, fmt::format("the store does not hold all of {}", printable(options.name)),
                fmt::format("sabath fetch {}", printable(options.name)));
  }
  std::filesystem::path path;
  if (options.to) {
    path = std::filesystem::absolute(*options.to).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    write_tree(*store, *manifest, path, files_of(options.as));
  } else {
    path = store->view_present(*manifest) ? store->view_path(root) : store->make_view(*manifest);
  }
  const Totals totals = manifest->totals();
  if (context.presentation.json) {
    context.out.record({{"schema", 1},
                        {"name", options.name},
                        {"manifest", root.prefixed()},
                        {"path", path.string()},
                        {"files", totals.files},
                        {"bytes", totals.bytes},
                        {"exit", 0}});
  } else {
    context.say(fmt::format("{} files, {}", totals.files, format_bytes(totals.bytes)));
    context.out.print(path.string() + "\n");
  }
  return 0;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("NAME", options->name, "an asset that was fetched");
  set.option("--to", "DIR", options->to, "write a tree of files into this new directory, outside the store");
  set.choice("--as", {"copy", "link", "symlink"}, options->as,
             "with --to: files of your own (the default), read-only hard links into the store, or symlinks to it");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_view
}  // namespace

constexpr Verb view_verb{
    "view",
    "make a tree of files of a fetched asset",
    "sabath view imagenet                    in the store, as `sabath path` prints it\n"
    "sabath view imagenet --to ./imagenet    a copy that is yours\n"
    "sabath view imagenet --to /scratch/i --as link",
    "From 1,000 small files on an asset is kept in packs: a few large files, so that a shared filesystem is spared a "
    "million small ones. Then fetch makes no view of it, and this does. On compute nodes `sabath stage` expands packs "
    "on the node's own disk instead.\n\n"
    "A tree outside the store is not known to `gc`. Copies and links keep their bytes whatever is collected; pin the "
    "asset while symlinks to it are in use, and see that a container has the store at the same path. --as link makes "
    "clones or hard links, copies on another filesystem, and symlinks to what another user put into the store. "
    "Executables, and files out of packs, are copies in any case.\n\n"
    "Exit code 9 when the asset, or a part of it, is not in the store.",
    false,
    cmd_view::declare,
};

}  // namespace sabath::cli
