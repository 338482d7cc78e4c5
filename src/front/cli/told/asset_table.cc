#include "cli/told/asset_table.h"

#include <unistd.h>

#include "base/text.h"
#include "cli/show/render.h"
#include "sabath/path.h"

namespace sabath::cli {

void print_assets(Context& context, const ListRecord& record, bool names_only) {
  if (context.presentation.json) return context.out.record_text(to_json(record));
  if (names_only) {
    for (const AssetSummary& asset : record.assets) context.out.print(printable(asset.name) + "\n");
    return;
  }
  Table table({"NAME", "KIND", "VERSION", "SIZE", "STORED", "TITLE"});
  for (const AssetSummary& asset : record.assets) {
    const auto size = asset.stored_bytes ? asset.stored_bytes : asset.size_bytes;  // archives are larger when unpacked
    const std::string stored = asset.present ? "yes" : asset.packed ? "packed" : "-";
    table.add({printable(asset.name), std::string(kind_name(asset.kind)), printable(asset.version, 20),
               size ? format_bytes(*size) : "-", stored, printable(asset.title)});
  }
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  if (!table.empty()) {
    context.out.print(table.text({3}, terminal ? terminal_width(STDOUT_FILENO, context.environment) : 0));
  }
  for (const UnreadableRecipe& each : record.problems) context.warn("left out: " + each.problem);
}

}  // namespace sabath::cli
