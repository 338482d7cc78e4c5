#include <fmt/format.h>

#include "base/counted.h"
#include "base/text.h"
#include "cli/described.h"
#include "cli/show/render.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/du.h"

namespace sabath::cli {
namespace {
namespace cmd_du {

void print_assets(Context& context, const std::vector<AssetUsage>& assets) {
  Table table({"ASSET", "FILES", "SIZE", "STORED", "ALONE", "VIEW"});
  for (const AssetUsage& asset : assets) {
    table.add({printable(asset.name), fmt::format("{}", asset.files), format_bytes(asset.bytes),
               format_bytes(asset.stored_bytes), format_bytes(asset.alone_bytes), format_bytes(asset.view_bytes)});
  }
  context.out.print(table.text({1, 2, 3, 4, 5}, 0));
}

void print(Context& context, const UsageRecord& record) {
  if (!record.assets.empty()) {
    print_assets(context, record.assets);
    return;
  }
  context.out.print(fmt::format("{}{}\n", record.store.string(), record.made ? "" : " (not made yet)"));
  Table table({"WHAT", "COUNT", "BYTES"});
  table.add({"objects", fmt::format("{}", record.objects), format_bytes(record.object_bytes)});
  table.add({"packs", fmt::format("{} of {}", record.packs, counted(record.packed_files, "file")),
             format_bytes(record.pack_bytes)});
  table.add({"partials", "", format_bytes(record.partial_bytes)});
  table.add({"manifests", fmt::format("{}", record.manifests), ""});
  table.add({"views", fmt::format("{}", record.views), format_bytes(record.view_bytes)});
  table.add({"trash", "", format_bytes(record.trash_bytes)});
  table.add({"quarantined", fmt::format("{}", record.quarantined), ""});
  table.add({"inodes", fmt::format("{}", record.inodes), ""});
  if (record.bytes_free)
    table.add(
        {"free", record.inodes_free ? fmt::format("{}", *record.inodes_free) : "", format_bytes(*record.bytes_free)});
  context.out.print(table.text({1, 2}, 0));
}

}  // namespace cmd_du
}  // namespace

constexpr Verb du_verb{
    .name = "du",
    .summary = "show what the store holds, and how much space it takes",
    .examples =
        "sabath du                        the store of this user\n"
        "sabath du cosmoflow              of one asset: ALONE is what `sabath rm` frees, with VIEW\n"
        "sabath du --store /shared/cache --json",
    .details =
        "Objects are counted once, however many assets and views share them. What a collection moved to the trash "
        "takes space until `sabath gc` deletes it.",
    .declare = declare<du, cmd_du::print>,
    .once = true,
};

}  // namespace sabath::cli
