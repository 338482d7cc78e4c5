#include "session/harvest.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "recipe/parse.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "session/file_facts.h"
#include "store/facts.h"

namespace sabath {
namespace {

constexpr std::size_t files_looked_into = 16, candidates_max = 10'000, facts_read_max = 2000, facts_lines_max = 5000;
constexpr std::chrono::seconds harvest_time_max(10);

struct Enough {};

// Files that may say something, spread over all that there are.
std::vector<RelativePath> chosen_files(const Manifest& manifest) {
  std::vector<RelativePath> all, chosen;
  try {
    std::size_t seen = 0;
    manifest.for_each([&](const Entry& entry) {
      if (entry.is_file() && may_say_facts(entry.path.name())) all.push_back(entry.path);
      if (++seen == 20 * candidates_max || all.size() == candidates_max) throw Enough();
    });
  } catch (const Enough&) {
    static_cast<void>(all);  // the first ones will do
  }
  const std::size_t count = std::min(all.size(), files_looked_into);
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(all[i * all.size() / count]);
  return chosen;
}

std::optional<HarvestedFacts> try_parse_facts(const std::string& text) {
  try {
    const JsonValue document = parse_json(text, "facts", {facts_size_max, 4, 20'000});
    JsonObject object(document, "facts", "what files say");
    HarvestedFacts facts;
    facts.name = object.text("name");
    const auto kind = try_parse_kind(object.text("kind"));
    if (!is_name(facts.name) || !kind) return std::nullopt;
    facts.kind = *kind;
    facts.lines = object.texts("facts");
    facts.files = object.texts("files");
    if (facts.files.size() > files_looked_into) facts.files.resize(files_looked_into);
    if (facts.lines.size() > facts_lines_max) facts.lines.resize(facts_lines_max);
    return facts;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

void harvest(Store& store, const Sha256& root, const std::filesystem::path& tree, const std::string& name,
             AssetKind kind, const std::filesystem::path& program, EventSink& events, const std::stop_token& stop) {
  try {
    const Layout layout(store.directory());
    const auto manifest = has_facts(layout, root) ? std::nullopt : store.manifest(root);
    if (!manifest || stop.stop_requested()) return;
    FileFacts facts(program, harvest_time_max, stop);
    nlohmann::ordered_json files = nlohmann::ordered_json::array();
    for (const RelativePath& path : chosen_files(*manifest))
      if (facts.look_into(tree / path.text())) files.push_back(path.text());
    const std::vector<std::string> lines = facts.lines();
    if (lines.empty()) return;
    const nlohmann::ordered_json record{
        {"schema", 1}, {"name", name}, {"kind", kind_name(kind)}, {"files", std::move(files)}, {"facts", lines}};
    keep_facts(store, root, record.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  } catch (const Error& error) {
    events.on(event::Note{fmt::format("what the files of {} say of themselves is not kept: {}", name, error.what())});
  }
}

std::optional<HarvestedFacts> harvested_of(const Layout& layout, const Sha256& root) {
  const auto text = try_facts(layout, root);
  return text ? try_parse_facts(*text) : std::nullopt;
}

std::vector<HarvestedFacts> harvested(const Layout& layout) {
  std::vector<HarvestedFacts> all;
  for (const std::string& text : all_facts(layout, facts_read_max))
    if (auto facts = try_parse_facts(text)) all.push_back(std::move(*facts));
  return all;
}

}  // namespace sabath
