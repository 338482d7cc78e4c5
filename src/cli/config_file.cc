#include "cli/config_file.h"

#include <fmt/format.h>

#include <cctype>

#include "base/file.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {

constexpr std::uint64_t file_size_max = 1024 * 1024;
constexpr std::uint64_t lanes_max = 1024;
constexpr std::uint64_t timeout_s_max = 24 * 3600;

class Reader {
 public:
  Reader(const JsonValue& document, const std::filesystem::path& file, const Environment& environment)
      : origin_(file.string()),
        directory_(file.parent_path()),
        environment_(environment),
        object_(document, origin_, "the configuration") {}

  ConfigFile read() {
    ConfigFile config;
    config.name = origin_;
    if (const auto text = object_.try_text("store")) config.store = path("store", *text);
    if (const auto text = object_.try_text("ca_file")) config.ca_file = path("ca_file", *text);
    config.roots = paths("roots");
    config.recipes = paths("recipes");
    config.rewrites = rewrites();
    config.lanes = bounded("lanes", lanes_max);
    config.connect_timeout_s = bounded("connect_timeout_s", timeout_s_max);
    config.stall_timeout_s = bounded("stall_timeout_s", timeout_s_max);
    config.limit_rate = rate();
    config.offline = boolean("offline");
    if (const auto text = object_.try_text("ssh_config")) config.ssh_config = path("ssh_config", *text).string();
    config.s3_profile = object_.try_text("s3_profile");
    config.s3_region = object_.try_text("s3_region");
    config.s3_endpoint = object_.try_text("s3_endpoint");
    config.s3_addressing = object_.try_text("s3_addressing");
    config.s3_anonymous = boolean("s3_anonymous");
    object_.finish();
    return config;
  }

 private:
  std::optional<std::uint64_t> bounded(const char* key, std::uint64_t maximum) {
    const auto value = object_.try_uint(key);
    if (value && *value > maximum) object_.fail(key, fmt::format("is more than {}", maximum));
    return value;
  }

  std::optional<bool> boolean(const char* key) {
    const JsonValue* value = object_.find(key);
    if (value == nullptr || value->is_null()) return std::nullopt;
    if (const bool* flag = value->get<bool>()) return *flag;
    object_.fail(key, "is neither true nor false");
  }

  std::optional<std::uint64_t> rate() {
    const JsonValue* value = object_.find("limit_rate");
    if (value == nullptr || value->is_null()) return std::nullopt;
    if (const auto* number = value->get<std::uint64_t>()) return *number;
    const auto* text = value->get<std::string>();
    const auto bytes = text == nullptr ? std::nullopt : parse_size(*text);
    if (!bytes) object_.fail("limit_rate", "is not a number of bytes a second", "write 10000000 or \"10M\"");
    return bytes;
  }

  std::vector<std::filesystem::path> paths(const char* key) {
    std::vector<std::filesystem::path> result;
    for (const std::string& text : object_.texts(key)) result.push_back(path(key, text));
    return result;
  }

  std::vector<std::pair<std::string, std::string>> rewrites() {
    std::vector<std::pair<std::string, std::string>> rules;
    const JsonValue::Array* array = object_.try_array("rewrites");
    if (array == nullptr) return rules;
    for (const JsonValue& value : *array) {
      JsonObject rule(value, origin_, "a rewrite rule");
      rules.emplace_back(rule.text("from"), rule.text("to"));
      rule.finish();
    }
    return rules;
  }

  // A site's file is written once for all users, hence the variables.
  std::filesystem::path path(const char* key, const std::string& text) {
    std::string expanded;
    std::size_t i = 0;
    if (text == "~" || text.starts_with("~/")) {
      expanded = environment_.home.string();
      i = 1;
    }
    while (i < text.size()) {
      if (text[i] != '$') {
        expanded += text[i++];
        continue;
      }
      const bool braces = i + 1 < text.size() && text[i + 1] == '{';
      const std::size_t begin = i + (braces ? 2 : 1);
      std::size_t end = begin;
      while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
      if (end == begin || (braces && (end == text.size() || text[end] != '}'))) {
        object_.fail(key, fmt::format("has a '$' without a variable's name: '{}'", printable(text)));
      }
      const std::string name = text.substr(begin, end - begin);
      const auto value = environment_.get(name);
      if (!value) object_.fail(key, fmt::format("uses ${}, which is not set", name));
      expanded += *value;
      i = end + (braces ? 1 : 0);
    }
    return (directory_ / expanded).lexically_normal();
  }

  std::string origin_;
  std::filesystem::path directory_;
  const Environment& environment_;
  JsonObject object_;
};

}  // namespace

ConfigFile parse_config(const std::string& text, const std::filesystem::path& file, const Environment& environment) {
  const std::string origin = file.string();
  const JsonValue document = parse_json(text, origin);
  return Reader(document, file, environment).read();
}

ConfigFile read_config_file(const std::filesystem::path& file, const Environment& environment) {
  const auto text = try_read_text(file, file_size_max);
  return text ? parse_config(*text, file, environment) : ConfigFile{};
}

}  // namespace sabath::cli
