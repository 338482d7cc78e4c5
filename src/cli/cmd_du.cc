#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/assets.h"
#include "cli/render.h"
#include "cli/verbs.h"

namespace sabath::cli {
namespace {
namespace cmd_du {

int run(Context& context) {
  const SessionSettings& settings = context.configuration.session;
  const auto store = try_open_store(settings);
  const Store::Usage usage = store ? store->usage() : Store::Usage{};
  const Space space = store ? store->space() : Space{};
  const bool counts_inodes = store && space.inodes_free != std::numeric_limits<std::uint64_t>::max();
  if (context.presentation.json) {
    nlohmann::ordered_json record{{"schema", 1},
                                  {"store", settings.store.string()},
                                  {"objects", usage.objects},
                                  {"object_bytes", usage.object_bytes},
                                  {"packs", usage.packs},
                                  {"packed_files", usage.packed_files},
                                  {"pack_bytes", usage.pack_bytes},
                                  {"partial_bytes", usage.partial_bytes},
                                  {"manifests", usage.manifests},
                                  {"views", usage.views},
                                  {"quarantined", usage.quarantined},
                                  {"inodes", usage.inodes}};
    record["bytes_free"] = store ? nlohmann::ordered_json(space.bytes_free) : nullptr;
    record["inodes_free"] = counts_inodes ? nlohmann::ordered_json(space.inodes_free) : nullptr;
    record["exit"] = 0;
    context.out.record(record);
    return 0;
  }
  context.out.print(fmt::format("{}{}\n", settings.store.string(), store ? "" : " (not made yet)"));
  Table table({"WHAT", "COUNT", "BYTES"});
  table.add({"objects", fmt::format("{}", usage.objects), format_bytes(usage.object_bytes)});
  table.add({"packs", fmt::format("{} of {} files", usage.packs, usage.packed_files), format_bytes(usage.pack_bytes)});
  table.add({"partials", "", format_bytes(usage.partial_bytes)});
  table.add({"manifests", fmt::format("{}", usage.manifests), ""});
  table.add({"views", fmt::format("{}", usage.views), ""});
  table.add({"quarantined", fmt::format("{}", usage.quarantined), ""});
  table.add({"inodes", fmt::format("{}", usage.inodes), ""});
  if (store)
    table.add({"free", counts_inodes ? fmt::format("{}", space.inodes_free) : "", format_bytes(space.bytes_free)});
  context.out.print(table.text({1, 2}, 0));
  return 0;
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
};

}  // namespace sabath::cli
