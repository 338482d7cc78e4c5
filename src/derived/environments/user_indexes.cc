#include "environments/user_indexes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/text.h"
#include "environments/toml.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/url.h"
#include "software/programs.h"

namespace sabath {
namespace {

constexpr std::uint64_t pip_file_max = 1 << 20;
constexpr std::string_view public_index = "https://pypi.org/simple";

// Without a password, and without slashes at its end: two spellings of an index are one.
std::string plain_index(std::string_view url) {
  url = trim(url);
  std::string plain(url);
  if (const auto scheme = plain.find("://"); scheme != std::string::npos) {
    const auto end = std::min(plain.find('/', scheme + 3), plain.size());
    if (const auto at = plain.rfind('@', end); at != std::string::npos && at > scheme)
      plain.erase(scheme + 3, at - scheme - 2);
  }
  while (plain.ends_with('/')) plain.pop_back();
  return plain;
}

std::optional<std::string> text_if_there(const std::filesystem::path& file) {
  try {
    return try_read_text(file, pip_file_max);
  } catch (const Error&) {
    return std::nullopt;  // a directory, or another's: pip and uv then complain themselves
  }
}

}  // namespace

UserIndexes::UserIndexes(const Environment& environment, std::span<const std::string> named) {
  add(std::string(public_index));
  for (const std::string& url : named) add(url);
  for (const char* const variable :
       {"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_INDEX"}) {
    for (std::string url : parts_between(environment.get(variable).value_or(""), ' ', 100)) {
      const auto name = url.find('=');
      add(name < url.find("://") ? url.substr(name + 1) : url);
    }
  }
  const auto config = environment.base_directory("XDG_CONFIG_HOME", ".config");
  std::vector<std::filesystem::path> pip_files{"/etc/pip.conf"}, uv_files{"/etc/uv/uv.toml"};
  if (!config.empty()) pip_files.push_back(config / "pip/pip.conf"), uv_files.push_back(config / "uv/uv.toml");
  if (!environment.home.empty()) pip_files.push_back(environment.home / ".pip/pip.conf");
  if (const auto file = environment.get("PIP_CONFIG_FILE")) pip_files.emplace_back(*file);
  if (const auto file = environment.get("UV_CONFIG_FILE")) uv_files.emplace_back(*file);
  for (const auto& file : pip_files)
    if (const auto text = text_if_there(file)) add_pip_file(*text);
  for (const auto& file : uv_files)
    if (const auto text = text_if_there(file)) add_uv_file(*text, file.string());
}

void UserIndexes::add(const std::string& url) {
  if (const std::string plain = plain_index(url); !plain.empty()) urls_.push_back(plain);
}

bool UserIndexes::allows(const std::string& url) const {
  return std::ranges::find(urls_, plain_index(url)) != urls_.end();
}

// [global], [install]: index-url = URL, extra-index-url = URL URL, further ones on indented lines.
void UserIndexes::add_pip_file(const std::string& text) {
  bool is_index = false;
  for (const std::string& line : parts_between(text, '\n')) {
    const std::size_t equals = std::min(line.find('='), line.size());
    const std::string_view key = trim(std::string_view(line).substr(0, equals));
    std::string_view value = line;
    if (key == "index-url" || key == "extra-index-url") {
      is_index = true;
      value.remove_prefix(std::min(equals + 1, line.size()));
    } else if (line.find("://") == std::string::npos || (equals < line.find("://"))) {
      is_index = false;
    }
    if (is_index)
      for (const std::string& url : parts_between(value, ' ', 100)) add(url);
  }
}

void UserIndexes::add_uv_file(const std::string& text, const std::string& origin) {
  try {
    const JsonValue root = parse_toml(text, origin);
    JsonObject object(root, origin, "a configuration");
    for (const char* const key : {"index-url", "default-index"})
      if (const auto url = object.try_text(key)) add(*url);
    for (const std::string& url : object.texts("extra-index-url")) add(url);
    if (const auto* const indexes = object.try_array("index"))
      for (const JsonValue& value : *indexes) add(JsonObject(value, origin, "an index").text("url"));
  } catch (const Error&) {
    return;  // uv itself says what is wrong with it
  }
}

std::vector<std::string> refused_indexes(const RequirementsFile& file, const UserIndexes& allowed) {
  std::vector<std::string> refused;
  for (const IndexOption& index : file.indexes)
    if (!allowed.allows(index.url))
      refused.push_back(fmt::format("{}: {} {} (an index that your own configuration does not name)", index.place,
                                    index.is_extra ? "--extra-index-url" : "--index-url", printable_url(index.url)));
  return refused;
}

}  // namespace sabath
