#include "cli/asset_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/recipe_record.h"
#include "cli/render.h"
#include "sabath/path.h"

namespace sabath::cli {

void AssetTable::print(Context& context, bool names_only, int exit) const {
  if (context.presentation.json) {
    nlohmann::ordered_json record{{"schema", 1}, {"assets", nlohmann::ordered_json::array()}};
    for (const Row& row : rows_) record["assets"].push_back(brief_record(row.recipe, row.holding));
    record["problems"] = nlohmann::ordered_json::array();
    for (const Problem& problem : problems_) {
      record["problems"].push_back({{"file", problem.file}, {"problem", problem.text}});
    }
    record["exit"] = exit;
    context.out.record(record);
    return;
  }
  if (names_only) {
    for (const Row& row : rows_) context.out.print(printable(row.recipe.name) + "\n");
    return;
  }
  Table table({"NAME", "KIND", "VERSION", "SIZE", "STORED", "TITLE"});
  for (const auto& [recipe, holding] : rows_) {
    const auto size = known_size(recipe);
    table.add({printable(recipe.name), std::string(kind_name(recipe.kind)), printable(recipe.version, 20),
               size ? format_bytes(*size) : "-", holding.view.empty() ? "-" : "yes", printable(recipe.title)});
  }
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  if (!table.empty()) {
    context.out.print(table.text({3}, terminal ? terminal_width(STDOUT_FILENO, context.environment) : 0));
  }
  for (const Problem& problem : problems_) context.warn("left out: " + problem.text);
}

}  // namespace sabath::cli
