#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/show/render.h"
#include "cli/verbs.h"
#include "sabath/usage.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_du {

int run(Context& context) {
  Session session(context.configuration.session);
  NoEvents unheard;
  const UsageRecord record = usage(session, {}, unheard, context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
    return record.exit;
  }
  context.out.print(fmt::format("{}{}\n", record.store.string(), record.made ? "" : " (not made yet)"));
  Table table({"WHAT", "COUNT", "BYTES"});
  table.add({"objects", fmt::format("{}", record.objects), format_bytes(record.object_bytes)});
  table.add(
      {"packs", fmt::format("{} of {} files", record.packs, record.packed_files), format_bytes(record.pack_bytes)});
  table.add({"partials", "", format_bytes(record.partial_bytes)});
  table.add({"manifests", fmt::format("{}", record.manifests), ""});
  table.add({"views", fmt::format("{}", record.views), ""});
  table.add({"quarantined", fmt::format("{}", record.quarantined), ""});
  table.add({"inodes", fmt::format("{}", record.inodes), ""});
  if (record.bytes_free)
    table.add(
        {"free", record.inodes_free ? fmt::format("{}", *record.inodes_free) : "", format_bytes(*record.bytes_free)});
  context.out.print(table.text({1, 2}, 0));
  return record.exit;
}

Action declare(OptionSet&) { return run; }

}  // namespace cmd_du
}  // namespace

constexpr Verb du_verb{
    "du",
    "what the store holds and how much room it takes",
    "sabath du                        the store of this user\n"
    "sabath du --store /shared/cache --json",
    "Objects are counted once, however many assets and views share them.",
    false,
    cmd_du::declare,
    false,
    true,
};

}  // namespace sabath::cli
