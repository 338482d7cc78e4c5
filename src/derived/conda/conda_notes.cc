#include "conda/conda_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_reader.h"
#include "conda/placeholder.h"
#include "sabath/path.h"
#include "sabath/url.h"

namespace sabath {
namespace {

constexpr std::size_t conda_word_max = 300, entry_points_noted_max = 10'000;
constexpr JsonLimits note_limits{.size_max = conda_note_max, .depth_max = 32, .values_max = 20'000'000};

// One short line: it is shown, and compared.
std::string conda_word(JsonObject& object, std::string_view key) {
  std::string word = object.text(key);
  if (word.size() > conda_word_max || printable(word, conda_word_max) != word)
    object.fail(key, "must be one short word");
  return word;
}

std::string noted_sha256(JsonObject& object) {
  std::string digits = object.try_text("sha256").value_or("");
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (!digits.empty() && (digits.size() != 64 || !std::ranges::all_of(digits, is_hex)))
    object.fail("sha256", "is no SHA-256");
  return digits;
}

void take_placeholder(JsonObject& object, CondaPath& path) {
  path.placeholder = object.try_text("prefix_placeholder").value_or("");
  const std::string mode = object.try_text("file_mode").value_or("text");
  if (path.placeholder.empty()) return;
  if (path.kind != CondaPath::Kind::file) object.fail("prefix_placeholder", "is stated of what is no file");
  const bool is_path = path.placeholder[0] == '/' && path.placeholder.find('\0') == std::string::npos &&
                       path.placeholder.find('\n') == std::string::npos;
  if (!is_path || path.placeholder.size() < placeholder_min || path.placeholder.size() > placeholder_max)
    object.fail("prefix_placeholder",
                fmt::format("must be a path of {} to {} bytes", placeholder_min, placeholder_max));
  if (mode != "text" && mode != "binary") object.fail("file_mode", "must be text or binary");
  path.is_binary = mode == "binary";
}

CondaPath conda_path(JsonObject object) {
  CondaPath path;
  path.path = object.text("_path");
  if (!RelativePath::try_parse(path.path))
    object.fail("_path", fmt::format("is no path in a prefix: {}", printable(path.path)));
  const std::string type = object.try_text("path_type").value_or("hardlink");
  if (type == "softlink")
    path.kind = CondaPath::Kind::symlink;
  else if (type == "directory")
    path.kind = CondaPath::Kind::folder;
  else if (type == "unix_python_entry_point" || type == "pyc_file" || type == "hardlink")
    path.kind = CondaPath::Kind::file;
  else
    object.fail("path_type", fmt::format("is {}: hardlink, softlink or directory", printable(type)));
  path.sha256 = noted_sha256(object);
  path.size_bytes = object.try_uint("size_in_bytes");
  take_placeholder(object, path);
  return path;
}

std::vector<CondaPath> conda_paths(JsonObject& object, std::string_view origin) {
  const JsonValue::Array* const rows = object.try_array("paths");
  if (rows == nullptr) object.fail("paths", "is missing");
  if (rows->size() > conda_paths_max) object.fail("paths", fmt::format("are more than {}", conda_paths_max));
  std::vector<CondaPath> paths;
  paths.reserve(rows->size());
  for (const JsonValue& row : *rows) paths.push_back(conda_path(JsonObject(row, origin, "a path")));
  return paths;
}

}  // namespace

CondaRecord parse_conda_record(std::string_view text, const std::string& origin) {
  const JsonValue root = parse_json(text, origin, note_limits);
  JsonObject object(root, origin, "a record of conda");
  CondaRecord record{
      conda_word(object, "name"), conda_word(object, "version"), conda_word(object, "build"), "", "", 0, {}};
  record.channel = public_channel(object.try_text("channel").value_or(""));
  record.sha256 = noted_sha256(object);
  record.size_bytes = object.try_uint("size").value_or(0);
  if (auto data = object.try_object("paths_data", "its paths")) record.paths = conda_paths(*data, origin);
  return record;
}

CondaIndex parse_conda_index(std::string_view text, const std::string& origin) {
  const JsonValue root = parse_json(text, origin, note_limits);
  JsonObject object(root, origin, "an index of a package");
  CondaIndex index{conda_word(object, "name"), conda_word(object, "version"), conda_word(object, "build"), false};
  if (const JsonValue* const noarch = object.find("noarch"))  // true in old packages: generic
    index.is_noarch_python = noarch->get<std::string>() != nullptr && *noarch->get<std::string>() == "python";
  return index;
}

std::vector<CondaPath> parse_conda_paths(std::string_view text, const std::string& origin) {
  const JsonValue root = parse_json(text, origin, note_limits);
  JsonObject object(root, origin, "paths of a package");
  if (object.try_uint("paths_version").value_or(0) != 1) object.fail("paths_version", "is not 1, the one that is read");
  return conda_paths(object, origin);
}

std::vector<std::string> parse_conda_entry_points(std::string_view text, const std::string& origin) {
  const JsonValue root = parse_json(text, origin, note_limits);
  JsonObject object(root, origin, "what is linked");
  auto noarch = object.try_object("noarch", "noarch");
  if (!noarch) return {};
  std::vector<std::string> points = noarch->texts("entry_points");
  if (points.size() > entry_points_noted_max) noarch->fail("entry_points", "are too many");
  for (const std::string& point : points)
    if (point.find_first_of("\n\r[#;") != std::string::npos)
      noarch->fail("entry_points", fmt::format("has {}, which is no NAME = MODULE:OBJECT", printable(point)));
  return points;
}

std::string public_channel(std::string_view channel) {
  std::string shown = printable_url(channel);
  if (const std::size_t token = shown.find("/t/"); token != std::string::npos) {
    const std::size_t end = std::min(shown.find('/', token + 3), shown.size());
    shown.erase(token, end - token);
  }
  while (shown.ends_with('/')) shown.pop_back();
  const std::size_t slash = shown.rfind('/');
  if (slash == std::string::npos) return shown;
  const std::string last = shown.substr(slash + 1);
  if (last == "noarch" || last.starts_with("linux-") || last.starts_with("osx-")) shown.erase(slash);
  return shown;
}

}  // namespace sabath
