#include "catalogues/tombstone.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "recipe/identifier.h"
#include "recipe/parse.h"
#include "recipe/subscribed.h"
#include "sabath/error.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t stones_max = 10'000, same_name_max = 1000;
constexpr std::uint64_t size_max = 1 << 20;

fs::path room_of(const fs::path& directory) { return directory / "removed"; }

std::string stem_of(const Tombstone& stone, std::size_t number) {
  const std::string base = stone.version.empty() ? stone.name : fmt::format("{}@{}", stone.name, stone.version);
  return number == 1 ? base : fmt::format("{}.{}", base, number);
}

// Whether it stands under its own name: no user moved it over another.
bool is_in_place(const Tombstone& stone) {
  const std::string stem = stone.file.stem(), base = stem_of(stone, 1);
  if (stem == base) return true;
  const std::string_view number = std::string_view(stem).substr(std::min(stem.size(), base.size() + 1));
  return stem.starts_with(base + ".") && !number.empty() && number.find_first_not_of("0123456789") == number.npos;
}

bool is_called(const Tombstone& stone, const std::string& name) {
  const std::string wanted = to_lower(name), plain = to_lower(stone.name);
  if (wanted == plain || wanted == plain + "@" + to_lower(stone.version)) return true;
  if (!is_identifier(name)) return false;
  const std::string identifier = plain_identifier(name);
  return (!stone.id.empty() && plain_identifier(stone.id) == identifier) ||
         (!stone.doi.empty() && plain_identifier(stone.doi) == identifier);
}

}  // namespace

std::string text_of_tombstone(const Tombstone& stone) {
  using Json = nlohmann::ordered_json;
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  const Json json = {{"schema", 1},
                     {"tombstone", true},
                     {"kind", kind_name(stone.kind)},
                     {"name", stone.name},
                     {"version", text(stone.version)},
                     {"id", text(stone.id)},
                     {"doi", text(stone.doi)},
                     {"title", text(stone.title)},
                     {"manifest", text(stone.manifest)},
                     {"licence", text(stone.licence)},
                     {"citation", stone.citation},
                     {"removed", stone.removed},
                     {"why", text(stone.why)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<Tombstone> try_parse_tombstone(std::string_view text, const fs::path& file) {
  try {
    const JsonValue document = parse_json(text, file.native(), {size_max, 4, 10'000});
    JsonObject object(document, file.native(), "a tombstone");
    if (object.try_uint("schema") != 1u || !object.flag("tombstone")) return std::nullopt;
    Tombstone stone;
    const auto take = [&](const char* key, std::string& into) { into = object.try_text(key).value_or(""); };
    stone.kind = try_parse_kind(object.text("kind")).value_or(AssetKind::dataset);
    stone.name = object.text("name");
    take("version", stone.version);
    take("id", stone.id);
    take("doi", stone.doi);
    take("title", stone.title);
    take("manifest", stone.manifest);
    take("licence", stone.licence);
    take("removed", stone.removed);
    take("why", stone.why);
    stone.citation = object.texts("citation");
    stone.file = file;
    return is_name(stone.name) ? std::optional(std::move(stone)) : std::nullopt;
  } catch (const Error&) {  // what others left there
    return std::nullopt;
  }
}

fs::path put_tombstone(const fs::path& directory, const Tombstone& stone) {
  make_directories(room_of(directory));
  for (std::size_t i = 1; i <= same_name_max; ++i) {
    const fs::path file = room_of(directory) / (stem_of(stone, i) + ".json");
    if (try_lstat(file)) continue;
    write_text_atomically(file, text_of_tombstone(stone), 0644, true);
    return file;
  }
  throw Error(FailureKind::storage, fmt::format("{} was removed {} times already", stone.name, same_name_max),
              "take another name");
}

std::vector<fs::path> tombstone_places(const std::vector<fs::path>& roots, std::vector<fs::path> directories) {
  constexpr std::size_t places_max = 10'000;
  for (const fs::path& root : roots) {
    std::error_code error;
    fs::directory_iterator at(root / "var" / "sabath" / "assets", error);
    for (const fs::directory_iterator end; !error && at != end && directories.size() < places_max; at.increment(error))
      directories.push_back(at->path());
  }
  return directories;
}

std::vector<Tombstone> tombstones_in(const std::vector<fs::path>& directories) {
  std::vector<Tombstone> stones;
  for (const fs::path& directory : directories) {
    std::error_code error;
    fs::directory_iterator at(room_of(directory), error);
    for (const fs::directory_iterator end; !error && at != end && stones.size() < stones_max; at.increment(error)) {
      const auto status = try_stat(at->path());
      if (at->path().extension() != ".json" || !status || !S_ISREG(status->st_mode)) continue;
      const auto text = try_read_text(at->path(), size_max);
      auto stone = text ? try_parse_tombstone(*text, at->path()) : std::nullopt;
      if (stone && is_in_place(*stone)) stones.push_back(std::move(*stone));
    }
  }
  std::ranges::stable_sort(stones, std::greater<>{}, &Tombstone::removed);
  return stones;
}

std::vector<Tombstone> tombstones_of(const std::vector<fs::path>& directories, const std::string& name) {
  std::vector<Tombstone> stones = tombstones_in(directories);
  std::erase_if(stones, [&](const Tombstone& stone) { return !is_called(stone, name); });
  if (!stones.empty()) return stones;
  for (const fs::path& directory : directories) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory / "catalogues", error)) {
      if (!is_name(entry.path().filename().native()) || !try_stat(entry.path() / subscription_file)) continue;
      for (Tombstone& stone : tombstones_in({entry.path()})) {
        stone.name = fmt::format("{}/{}", entry.path().filename().native(), stone.name);
        if (is_called(stone, name)) stones.push_back(std::move(stone));
      }
    }
  }
  return stones;
}

}  // namespace sabath
