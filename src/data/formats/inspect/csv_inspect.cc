// A table as text: the names of its columns stand in its first line.
#include <utility>
#include <vector>

#include "base/text.h"
#include "formats/inspect/inspect_format.h"

namespace sabath {
namespace {

constexpr std::size_t table_head_bytes = 64 * 1024, columns_max = 1000;

// The names of a table's first line; none: it holds numbers alone.
std::vector<std::string> columns_of(std::string_view line) {
  std::vector<std::string> names;
  std::string name;
  bool quoted = false, words = false;
  for (std::size_t i = 0; i <= line.size() && names.size() < columns_max; ++i) {
    const char c = i < line.size() ? line[i] : ',';
    if (c == '"' && i < line.size()) {
      quoted = !quoted;
    } else if (c == ',' && (!quoted || i == line.size())) {
      name = std::string(trim(name));
      words = words || name.find_first_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") != name.npos;
      names.push_back(std::exchange(name, {}));
    } else {
      name += c;
    }
  }
  if (!words) names.clear();
  return names;
}

void column_facts(const DataFile& file, FactSink& facts) {
  const std::string head = file.head(table_head_bytes);
  const std::size_t end = head.find('\n');
  if (end == head.npos || !is_utf8(head.substr(0, end))) return;
  for (const std::string& name : columns_of(trim(std::string_view(head).substr(0, end)))) facts.add("column", name);
}

}  // namespace

extern constexpr InspectFormat csv_inspected{.name = "csv", .endings = ".csv", .facts = column_facts};

}  // namespace sabath
