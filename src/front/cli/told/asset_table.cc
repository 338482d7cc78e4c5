#include "cli/told/asset_table.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/show/render.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {

// A title of which this much is there says something. Versions and names are cut to no less than these, in this order:
// `list --names` and `info` have the whole ones.
constexpr std::size_t title_columns = 24, version_columns = 8, name_columns = 24;

std::size_t widest(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, display_width(row[column]));
  return width;
}

void make_room_for_titles(std::vector<std::vector<std::string>>& rows, std::size_t width, bool utf8) {
  constexpr std::size_t name = 0, version = 2, title = 5;
  std::size_t needed = std::min(title_columns, widest(rows, title));
  constexpr std::array<std::size_t, title> heads{4, 4, 7, 4, 6};  // columns of the words above
  for (std::size_t i = 0; i < title; ++i) needed += std::max(heads[i], widest(rows, i)) + 2;
  for (const auto& [column, least] : {std::pair(version, version_columns), std::pair(name, name_columns)}) {
    const std::size_t is = widest(rows, column);
    if (needed <= width || is <= least) continue;
    const std::size_t kept = std::max(least, is - std::min(is, needed - width));
    for (auto& row : rows) row[column] = shorten(row[column], kept, utf8, true);
    needed -= is - kept;
  }
}

}  // namespace

void print_assets(Context& context, const ListRecord& record, bool names_only) {
  if (context.presentation.json) return context.out.record_text(to_json(record));
  if (names_only) {
    for (const AssetSummary& asset : record.assets) context.out.print(printable(asset.name) + "\n");
    return;
  }
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  const std::size_t width = terminal ? terminal_width(STDOUT_FILENO, context.environment) : 0;
  std::vector<std::vector<std::string>> rows;
  for (const AssetSummary& asset : record.assets) {
    const auto size = asset.stored_bytes ? asset.stored_bytes : asset.size_bytes;  // archives are larger when unpacked
    const std::string stored = asset.present ? "yes" : asset.packed ? "packed" : "-";
    rows.push_back({printable(asset.name), std::string(kind_name(asset.kind)), printable(asset.version, 20),
                    size ? format_bytes(*size) : "-", stored, printable(asset.title)});
  }
  if (width > 0) make_room_for_titles(rows, width, context.presentation.utf8);
  Table table({"NAME", "KIND", "VERSION", "SIZE", "STORED", "TITLE"});
  for (std::vector<std::string>& row : rows) table.add(std::move(row));
  if (!table.empty()) context.out.print(table.text({3}, width));
  for (const UnreadableRecipe& each : record.problems) context.warn("left out: " + each.problem);
}

}  // namespace sabath::cli
