#include "run/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "base/wording.h"
#include "run/yaml_settings.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t value_size_max = 4096, file_size_max = 1 << 20, name_size_max = 120;

bool is_key(std::string_view text) {
  const auto good = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
           c == '-' || c == '+';
  };
  return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), good);
}

void check_key(const std::string& key, const std::string& origin, std::size_t line) {
  if (!is_key(key)) throw_at(origin, line, fmt::format("\"{}\" is no name of a setting", printable(key)));
}

void check_value(const std::string& key, const std::string& value) {
  bool control = false;
  for (std::size_t i = 0; i < value.size(); ++i)
    control = control || begins_with_control(std::string_view(value).substr(i));
  if (!control && is_utf8(value) && value.size() <= value_size_max) return;
  throw Error(FailureKind::usage, fmt::format("the value of {} is no text: '{}'", key, printable(value)),
              fmt::format("values have at most {} bytes of UTF-8 and no control characters", value_size_max));
}

std::vector<std::string> split_values(std::string_view text) {
  std::vector<std::string> values(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      values.back() += text[++i];
    } else if (text[i] == ',') {
      values.emplace_back();
    } else {
      values.back() += text[i];
    }
  }
  return values;
}

std::string text_of(const JsonMember& member, const std::string& key, const std::string& origin) {
  if (const bool* flag = member.value.get<bool>()) return *flag ? "true" : "false";
  if (const auto* number = member.value.get<std::uint64_t>()) return fmt::to_string(*number);
  if (const auto* real = member.value.get<JsonNumber>()) return real->text;
  return checked_text(member.value, origin, fmt::format("\"{}\"", key));
}

void read_members(const JsonValue& value, const std::string& prefix, const std::string& origin, Config& config) {
  const auto* members = value.get<JsonValue::Object>();
  if (members == nullptr) throw_at(origin, value.line, "must be an object of settings");
  for (const JsonMember& member : *members) {
    const std::string key = prefix + member.key;
    check_key(key, origin, member.line);
    if (member.value.is_null()) continue;
    if (member.value.get<JsonValue::Object>() != nullptr) {
      read_members(member.value, key + ".", origin, config);
    } else {
      config[key] = text_of(member, key, origin);
    }
  }
}

// The settings that vary, as a file name that tells the runs apart; a long or strange value is hashed.
std::string name_of(const std::vector<std::pair<std::string, std::string>>& varied) {
  std::string name, exact;
  bool faithful = true;
  for (const auto& [key, value] : varied) {
    exact += fmt::format("{}:{}={}:{};", key.size(), key, value.size(), value);
    name += (name.empty() ? "" : ",") + key + "=";
    for (const char c : value) {
      const bool plain = is_key(std::string_view(&c, 1));
      faithful = faithful && plain;
      name += plain ? c : '_';
    }
  }
  if (faithful && name.size() <= name_size_max) return name;
  return name.substr(0, name_size_max) + "-" + sha256(exact).hex().substr(0, 8);
}

void check_known(const std::string& key, const std::vector<std::string>& known) {
  if (std::ranges::find(known, key) != known.end()) return;
  const auto meant = nearest(key, known);
  std::string all;
  for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
  throw Error(FailureKind::usage, fmt::format("the recipe has no setting '{}'", printable(key)),
              meant         ? fmt::format("did you mean {}?", *meant)
              : all.empty() ? "it has none; give the program's own arguments after --"
                            : "it has " + all);
}

}  // namespace

Setting parse_setting(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || !is_key(std::string_view(text).substr(0, equals))) {
    throw Error(FailureKind::usage, fmt::format("{} {} is no setting", option_text("set"), printable(text)),
                "a setting is KEY=VALUE, or KEY=VALUE,VALUE for one run each");
  }
  Setting setting{text.substr(0, equals), split_values(std::string_view(text).substr(equals + 1))};
  for (const std::string& value : setting.values) check_value(setting.key, value);
  return setting;
}

Config parse_config(std::string_view text, const std::string& origin) {
  Config config;
  if (origin.ends_with(".yaml") || origin.ends_with(".yml")) {
    for (YamlSetting& setting : read_yaml_settings(text, origin)) {
      check_key(setting.key, origin, setting.line);
      config[setting.key] = std::move(setting.value);
    }
  } else {
    read_members(parse_json(text, origin, {file_size_max, 8}), "", origin, config);
  }
  for (const auto& [key, value] : config) check_value(key, value);
  return config;
}

std::vector<Variant> variants(const Config& base, const std::vector<Setting>& settings,
                              const std::vector<std::string>& known) {
  for (const auto& [key, value] : base) check_known(key, known);
  struct Growing {
    Config config;
    std::vector<std::pair<std::string, std::string>> varied;
  };
  std::vector<Growing> all{{base, {}}};
  for (const Setting& setting : settings) {
    check_known(setting.key, known);
    if (all.size() * setting.values.size() > sweep_runs_max) {
      throw Error(FailureKind::usage, fmt::format("the sweep has more than {} runs", sweep_runs_max),
                  "give fewer values");
    }
    std::vector<Growing> grown;
    for (const Growing& one : all) {
      for (const std::string& value : setting.values) {
        grown.push_back(one);
        grown.back().config[setting.key] = value;
        if (setting.values.size() > 1) grown.back().varied.emplace_back(setting.key, value);
      }
    }
    all = std::move(grown);
  }
  std::vector<Variant> result;
  for (Growing& one : all) result.push_back({std::move(one.config), one.varied.empty() ? "" : name_of(one.varied)});
  return result;
}

}  // namespace sabath
