#include "recipe/index_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "sabath/asset_kind.h"
#include "sabath/error.h"

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;

Json or_nothing(const std::string& text) { return text.empty() ? Json() : Json(text); }

bool is_in_a_folder(const std::string& path) {
  return try_kind_of_folder(std::string_view(path).substr(0, path.find('/'))).has_value();
}

}  // namespace

std::string text_of_index(const CatalogueIndexFile& index) {
  Json assets = Json::array(), files = Json::array();
  for (const CatalogueAsset& asset : index.assets) {
    assets.push_back({{"kind", asset.kind},
                      {"name", asset.name},
                      {"version", or_nothing(asset.version)},
                      {"title", or_nothing(asset.title)},
                      {"id", or_nothing(asset.id)},
                      {"licence", or_nothing(asset.licence)},
                      {"recipe", asset.recipe},
                      {"document", asset.document}});
  }
  for (const CatalogueFile& file : index.files)
    files.push_back({{"path", file.path.text()}, {"size", file.size_bytes}, {"sha256", file.sha256.hex()}});
  const Json json = {{"schema", 1},
                     {"catalogue", "sabath"},
                     {"assets", std::move(assets)},
                     {"files", std::move(files)},
                     {"tombstones", index.tombstones}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<CatalogueFile> parse_index(std::string_view text, const std::string& origin) {
  constexpr JsonLimits limits{.size_max = 64 << 20, .depth_max = 6, .values_max = 4'000'000};
  const JsonValue document = parse_json(text, origin, limits);
  JsonObject object(document, origin, "the index of a catalogue");
  if (object.try_text("catalogue") != "sabath")
    object.fail("catalogue", "must be \"sabath\"",
                "an exported catalogue has an index.json, and a git repository ends with .git");
  if (object.try_uint("schema") != 1u) object.fail("schema", "must be 1");
  std::vector<CatalogueFile> files;
  std::uint64_t bytes = 0;
  const JsonValue::Array* list = object.try_array("files");
  for (const JsonValue& one : list == nullptr ? JsonValue::Array{} : *list) {
    JsonObject file(one, origin, "a file");
    const std::string path = file.text("path");
    const auto parsed = RelativePath::try_parse(path);
    if (!parsed || !is_in_a_folder(path)) file.fail("path", fmt::format("is none below {}", kind_folders_text()));
    const auto sum = Sha256::try_parse(file.text("sha256"));
    if (!sum) file.fail("sha256", "is no SHA-256");
    const std::uint64_t size = file.try_uint("size").value_or(0);
    bytes += std::min(size, catalogue_bytes_max + 1);
    if (files.size() == catalogue_files_max || bytes > catalogue_bytes_max) {
      throw_at(origin, one.line,
               fmt::format("a catalogue has at most {} files of {} bytes together", catalogue_files_max,
                           catalogue_bytes_max));
    }
    files.push_back({*parsed, size, *sum});
  }
  return files;
}

}  // namespace sabath
