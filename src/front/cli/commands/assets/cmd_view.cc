#include <fmt/format.h>

#include "base/counted.h"
#include "base/text.h"
#include "cli/described.h"
#include "cli/show/hub_exports.h"
#include "cli/verbs.h"
#include "sabath/verbs/view.h"

namespace sabath::cli {
namespace {
namespace cmd_view {

void print(Context& context, const ViewRecord& record) {
  context.say(fmt::format("{}, {}", counted(record.files, "file"), format_bytes(record.bytes)));
  for (const std::string& repository : record.repositories) context.say(repository);
  context.out.print((record.repositories.empty() ? record.path.string() : hub_exports(record.path)) + "\n");
}

}  // namespace cmd_view
}  // namespace

constexpr Verb view_verb{
    .name = "view",
    .summary = "make a tree of files of a fetched asset",
    .examples =
        "sabath view imagenet                    in the store, as `sabath path` prints it\n"
        "sabath view imagenet --to ./imagenet    a copy that is yours\n"
        "sabath view imagenet --to /scratch/i --as link\n"
        "eval \"$(sabath view bert --layout hf)\"      transformers and others find it offline (docs/huggingface.md)",
    .details =
        "From 1,000 small files on an asset is kept in packs: a few large files, so that a shared filesystem is spared "
        "a "
        "million small ones. Then fetch makes no view of it without --view, and this does, if its inodes are free. On "
        "compute nodes `sabath stage` expands packs "
        "on the node's own disk instead.\n\n"
        "A tree outside the store is not known to `gc`. Copies and links outlive the asset there; `sabath "
        "keep` the asset while symlinks to it are in use, and see that a container has the store at the same path. "
        "--as "
        "link makes "
        "clones or hard links, copies on another filesystem, and symlinks to what another user put into the store. "
        "Executables, and files out of packs, are copies in any case.\n\n"
        "Exit code 9 when the asset, or a part of it, is not in the store.",
    .declare = declare<view, cmd_view::print>,
};

}  // namespace sabath::cli
