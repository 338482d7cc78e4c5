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

Json json_of(const CatalogueFile& file) {
  return {{"path", file.path.text()}, {"size", file.size_bytes}, {"sha256", file.sha256.hex()}};
}

// Reads one list of an index, within the bounds of all of them.
class FilesReader {
 public:
  explicit FilesReader(const std::string& origin) : origin_(origin) {}

  void read(const JsonValue& one, bool is_tombstone) {
    if (is_tombstone && one.get<std::string>() != nullptr) return;  // an earlier SABATH wrote no hash of it
    JsonObject file(one, origin_, is_tombstone ? "a tombstone" : "a file");
    const std::string path = file.text("path");
    const auto parsed = RelativePath::try_parse(path);
    const bool fits = is_tombstone ? is_in_removed(path) : is_in_a_folder(path);
    if (!parsed || !fits) {
      file.fail("path",
                is_tombstone ? "is no removed/NAME.json" : fmt::format("is none below {}", kind_folders_text()));
    }
    const auto sum = Sha256::try_parse(file.text("sha256"));
    if (!sum) file.fail("sha256", "is no SHA-256");
    const std::uint64_t size = file.try_uint("size").value_or(0);
    bytes_ += std::min(size, catalogue_bytes_max + 1);
    if (files.size() == catalogue_files_max || bytes_ > catalogue_bytes_max) {
      throw_at(origin_, one.line,
               fmt::format("a catalogue has at most {} files of {} bytes together", catalogue_files_max,
                           catalogue_bytes_max));
    }
    files.push_back({*parsed, size, *sum});
  }

  std::vector<CatalogueFile> files;

 private:
  static bool is_in_a_folder(const std::string& path) {
    return try_kind_of_folder(std::string_view(path).substr(0, path.find('/'))).has_value();
  }
  static bool is_in_removed(const std::string& path) {
    return path.starts_with("removed/") && path.ends_with(".json") && path.find('/') == path.rfind('/');
  }

  const std::string& origin_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

std::string text_of_index(const CatalogueIndexFile& index) {
  Json assets = Json::array(), files = Json::array(), tombstones = Json::array();
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
  for (const CatalogueFile& file : index.files) files.push_back(json_of(file));
  for (const CatalogueFile& stone : index.tombstones) tombstones.push_back(json_of(stone));
  const Json json = {{"schema", 1},
                     {"catalogue", "sabath"},
                     {"assets", std::move(assets)},
                     {"files", std::move(files)},
                     {"tombstones", std::move(tombstones)}};
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
  FilesReader reader(origin);
  for (const char* key : {"files", "tombstones"}) {
    const JsonValue::Array* list = object.try_array(key);
    for (const JsonValue& one : list == nullptr ? JsonValue::Array{} : *list)
      reader.read(one, std::string_view(key) == "tombstones");
  }
  return std::move(reader.files);
}

}  // namespace sabath
