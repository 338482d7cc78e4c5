#include "apply/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/glob.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/wording.h"
#include "recipe/script_template.h"
#include "recipe/supporting.h"
#include "sabath/error.h"

namespace sabath {
namespace {

using Json = nlohmann::json;  // objects sorted by key

constexpr std::size_t name_size_max = 128, key_digits = 12, value_size_max = 64 << 10;

[[noreturn]] void refuse_argument(const SupportingScript& script, const std::string& why) {
  std::string names;
  for (const ScriptArgument& argument : script.arguments) names += (names.empty() ? "" : ", ") + argument.name;
  throw Error(FailureKind::usage, fmt::format("{}: {}", script.id, why),
              names.empty() ? fmt::format("it has no arguments but num_threads; see `{} NAME`", verb_text("supporting"))
                            : fmt::format("its arguments are {}; see `{} NAME`", names, verb_text("supporting")));
}

Json typed(const ScriptArgument& argument, const std::string& value) {
  if (argument.type == ArgumentType::flag) return value == "true";
  if (argument.type == ArgumentType::integer) return std::stoll(value);
  if (argument.type == ArgumentType::number) return std::stod(value);
  return value;
}

Json step_json(const ScriptStep& step) {
  Json arguments = Json::object();
  for (const ScriptArgument& argument : step.script.arguments) {
    const auto value = step.arguments.find(argument.name);
    if (value != step.arguments.end()) arguments[argument.name] = typed(argument, value->second);
  }
  Json script = {{"id", step.script.id},
                 {"argv", step.script.argv},
                 {"per", step.script.per_file ? "file" : "asset"},
                 {"inputs", step.script.inputs},
                 {"outputs", step.script.outputs},
                 {"root", step.script_root.empty() ? Json() : Json(step.script_root)}};
  return {{"schema", 1}, {"script", std::move(script)}, {"arguments", std::move(arguments)}, {"tools", step.tools}};
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

ScriptArguments resolve_arguments(const SupportingScript& script, const std::vector<std::string>& given) {
  ScriptArguments arguments;
  for (const std::string& word : given) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      refuse_argument(script, fmt::format("\"{}\" is not KEY=VALUE", printable(word)));
    const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
    const auto declared = std::ranges::find(script.arguments, key, &ScriptArgument::name);
    if (declared == script.arguments.end()) {
      std::vector<std::string> names;
      for (const ScriptArgument& argument : script.arguments) names.push_back(argument.name);
      const auto meant = nearest(key, names);
      refuse_argument(script, fmt::format("there is no argument \"{}\"{}", printable(key),
                                          meant ? fmt::format(" (did you mean {}?)", *meant) : ""));
    }
    if (arguments.contains(key)) refuse_argument(script, fmt::format("{} is given twice", key));
    if (value.size() > value_size_max || printable(value, value_size_max) != value)
      refuse_argument(script,
                      fmt::format("the value of {} is longer than {} bytes, or no plain text", key, value_size_max));
    const auto right = right_value(*declared, value);
    if (!right) {
      std::string choices;
      for (const auto& choice : declared->choices) choices += (choices.empty() ? " of " : ", ") + choice;
      refuse_argument(script,
                      fmt::format("{}=\"{}\" is no {}{}", key, printable(value), type_name(declared->type), choices));
    }
    arguments[key] = *right;
  }
  for (const ScriptArgument& argument : script.arguments) {
    if (arguments.contains(argument.name)) continue;
    if (!argument.fallback) refuse_argument(script, fmt::format("{} must be given", argument.name));
    arguments[argument.name] = *argument.fallback;
  }
  return arguments;
}

std::string step_text(const ScriptStep& step) { return text_of(step_json(step)); }

std::string key_text(const ScriptStep& step, const Sha256& input, bool in_place) {
  Json json = step_json(step);
  json["input"] = input.prefixed();
  json["in_place"] = in_place;
  return text_of(json);
}

Sha256 file_key(const Sha256& step, const Entry& file, const std::optional<Sha256>& asset) {
  const Json json = {{"step", step.prefixed()},
                     {"path", file.path.text()},
                     {"size", file.digest.size_bytes},
                     {"hash", file.digest.hash.prefixed()},
                     {"input", asset ? Json(asset->prefixed()) : Json()}};
  return sha256(text_of(json));
}

bool reads_more(const SupportingScript& script) {
  return std::ranges::any_of(script.argv, [](const auto& word) { return word.find("{dataset}") != std::string::npos; });
}

std::vector<Entry> inputs_of(const SupportingScript& script, const Manifest& manifest) {
  std::vector<Entry> files;
  manifest.for_each([&](const Entry& entry) {
    const auto matches = [&](const std::string& pattern) { return glob_matches(pattern, entry.path.text()); };
    if (entry.is_file() && std::ranges::any_of(script.inputs, matches)) files.push_back(entry);
  });
  return files;
}

std::vector<std::size_t> dealt_to(const std::vector<Entry>& files, unsigned rank, unsigned ranks) {
  std::vector<std::size_t> order(files.size()), mine;
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return files[i].digest.size_bytes; });
  std::vector<std::uint64_t> load(std::max(1U, ranks));
  for (const std::size_t i : order) {
    const auto least = std::ranges::min_element(load);
    if (static_cast<unsigned>(least - load.begin()) == rank) mine.push_back(i);
    *least += files[i].digest.size_bytes + 4096;  // an empty file is work as well
  }
  std::ranges::sort(mine);
  return mine;
}

std::string derived_name(const std::string& from, const std::string& script, const Sha256& key) {
  const std::string end = "-" + key.hex().substr(0, key_digits);
  std::string middle = "+" + script;
  if (middle.size() > name_size_max / 2) middle.resize(name_size_max / 2);
  return from.substr(0, name_size_max - middle.size() - end.size()) + middle + end;
}

std::vector<std::string> filled(const ScriptStep& step, const ScriptPlaces& places) {
  const auto value = [&](std::string_view name) -> std::string {
    if (name == "input") return places.input;
    if (name == "output") return places.output;
    if (name == "dataset") return places.dataset;
    if (name == "source") return places.source;
    if (name == "name") return places.name;
    if (name == "stem") return places.stem;
    if (name == "num_threads") return fmt::to_string(places.threads);
    return step.arguments.at(std::string(name.substr(name.find('.') + 1)));  // parsing has seen that it is declared
  };
  std::vector<std::string> argv;
  for (const std::string& word : step.script.argv) argv.push_back(fill_script_template(word, value));
  return argv;
}

}  // namespace sabath
