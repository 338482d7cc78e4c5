#include "recipe/supporting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/derivation.h"
#include "base/glob.h"
#include "base/text.h"
#include "recipe/fields.h"
#include "recipe/run_sets.h"
#include "recipe/script_template.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t scripts_max = 256, arguments_max = 256, words_max = 4096, patterns_max = 256;

constexpr std::array<std::pair<std::string_view, ArgumentType>, 4> types{{{"text", ArgumentType::text},
                                                                          {"int", ArgumentType::integer},
                                                                          {"float", ArgumentType::number},
                                                                          {"bool", ArgumentType::flag}}};

ArgumentType take_type(JsonObject& object) {
  const std::string text = object.try_text("type").value_or("text");
  const auto* found = std::ranges::find(types, text, &std::pair<std::string_view, ArgumentType>::first);
  if (found != types.end()) return found->second;
  object.fail("type", fmt::format("is \"{}\", but must be \"text\", \"int\", \"float\" or \"bool\"", printable(text)));
}

// The scalar as a user would write it.
std::optional<std::string> text_of(const JsonValue& value, std::string_view origin, std::string_view name) {
  if (value.is_null()) return std::nullopt;
  if (const bool* flag = value.get<bool>()) return *flag ? "true" : "false";
  if (const auto* number = value.get<std::uint64_t>()) return fmt::to_string(*number);
  if (const auto* real = value.get<JsonNumber>()) return real->text;
  return checked_text(value, origin, name);
}

template <class T>
std::optional<T> whole(std::string_view text) {
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

ScriptArgument read_argument(const JsonValue& value, std::string_view origin) {
  JsonObject object(value, origin, "an argument");
  ScriptArgument argument;
  argument.name = take_name(object, "name");
  if (argument.name == "num_threads") {
    object.fail("name", "is \"num_threads\", which every script has", "write {num_threads} where the command wants it");
  }
  argument.type = take_type(object);
  argument.help = take_line(object, "help");
  std::vector<std::string> choices;
  for (const std::string& choice : take_lines(object, "choices")) {
    const auto right = right_value(argument, choice);
    if (!right) object.fail("choices", fmt::format("\"{}\" is no {}", printable(choice), type_name(argument.type)));
    choices.push_back(*right);
  }
  argument.choices = std::move(choices);
  if (const JsonValue* given = object.find("default")) {
    const auto text = text_of(*given, origin, "\"default\"");
    argument.fallback = right_value(argument, *text);
    if (!argument.fallback) {
      object.fail("default", fmt::format("\"{}\" is no {}{}", printable(*text), type_name(argument.type),
                                         argument.choices.empty() ? "" : " of the choices"));
    }
  }
  object.finish();
  return argument;
}

std::vector<std::string> take_globs(JsonObject& object, std::string_view key) {
  std::vector<std::string> patterns = take_lines(object, key);
  if (patterns.size() > patterns_max) object.fail(key, fmt::format("has more than {} patterns", patterns_max));
  for (const std::string& pattern : patterns) {
    if (pattern.empty() || pattern.starts_with('/'))
      object.fail(key, "holds a pattern that no path in an asset matches");
  }
  if (patterns.empty()) patterns.emplace_back("**");
  return patterns;
}

void check_placeholder(std::string_view name, const SupportingScript& script, const JsonObject& object) {
  constexpr std::string_view arg = "arg.";
  static const std::array<std::string, 8> known{"input",   "output", "name",        "stem",
                                                "dataset", "source", "num_threads", "arg.NAME"};
  const auto fail = [&](const std::string& why, const std::string& hint) { object.fail("argv", why, hint); };
  if (name.starts_with(arg)) {
    if (std::ranges::find(script.arguments, name.substr(arg.size()), &ScriptArgument::name) != script.arguments.end())
      return;
    fail(fmt::format("names {{{}}}, and \"arguments\" has none of this name", printable(name)),
         "declare it in \"arguments\"");
  }
  if (std::ranges::find(known, name) == known.end()) {
    const auto meant = nearest(name, known);
    fail(fmt::format("has the unknown placeholder {{{}}}{}", printable(name),
                     meant ? fmt::format(" (did you mean {{{}}}?)", *meant) : ""),
         "known are {input} {output} {name} {stem} {dataset} {source} {num_threads} {arg.NAME}; write {{name}} for a "
         "literal {name}");
  }
  if (!script.per_file && (name == "name" || name == "stem")) {
    fail(fmt::format("has {{{}}}, which only a script \"per\" file has", name), "name the output by yourself");
  }
  if (name == "source" && !script.source) fail("has {source}, and the script has no \"source\"", "name its directory");
}

std::vector<std::string> take_argv(JsonObject& object, const SupportingScript& script) {
  const JsonValue::Array* words = object.try_array("argv");
  std::vector<std::string> argv;
  if (words == nullptr || words->empty() || words->size() > words_max) {
    object.fail("argv", fmt::format("must be a list of 1 to {} words", words_max));
  }
  for (const JsonValue& word : *words) {
    const std::string& text = checked_text(word, object.origin(), "\"argv\"");
    (void)fill_script_template(text, [&](std::string_view name) {
      check_placeholder(name, script, object);
      return std::string();
    });
    argv.push_back(text);
  }
  if (argv.front().empty()) object.fail("argv", "names no command");
  return argv;
}

SupportingScript read_script(const JsonValue& value, std::string_view origin) {
  JsonObject object(value, origin, "a supporting script");
  SupportingScript script;
  script.id = take_name(object, "id");
  script.description = object.try_text("description").value_or("");
  if (const JsonValue::Array* arguments = object.try_array("arguments")) {
    if (arguments->size() > arguments_max) object.fail("arguments", fmt::format("are more than {}", arguments_max));
    for (const JsonValue& argument : *arguments) {
      script.arguments.push_back(read_argument(argument, origin));
      const auto& name = script.arguments.back().name;
      if (std::ranges::count(script.arguments, name, &ScriptArgument::name) > 1)
        throw_at(origin, argument.line, fmt::format("there are two arguments \"{}\"", name));
    }
  }
  const std::string per = object.try_text("per").value_or("file");
  if (per != "file" && per != "asset") {
    object.fail("per", fmt::format("is \"{}\", but must be \"file\" or \"asset\"", printable(per)));
  }
  script.per_file = per == "file";
  script.inputs = take_globs(object, "inputs");
  script.outputs = take_globs(object, "outputs");
  if (const auto source = object.try_text("source")) {
    script.source = RelativePath::try_parse(*source);
    if (!script.source) object.fail("source", fmt::format("\"{}\" is no relative path", printable(*source)));
  }
  script.argv = take_argv(object, script);
  object.finish();
  return script;
}

Sha256 take_root(JsonObject& object, std::string_view key) {
  const std::string text = object.text(key);
  const auto root = text.starts_with("sha256:") ? Sha256::try_parse(text) : std::nullopt;
  if (!root) object.fail(key, "must be \"sha256:\" and 64 hexadecimal digits");
  return *root;
}

std::optional<DerivationStep> take_derivation(JsonObject& object) {
  auto inner = object.try_object("derived", "\"derived\"");
  if (!inner) return std::nullopt;
  DerivationStep derived;
  derived.from = take_name(*inner, "from");
  derived.input = take_root(*inner, "input");
  derived.script = take_name(*inner, "script");
  if (inner->find("script_root") != nullptr) derived.script_root = take_root(*inner, "script_root").prefixed();
  derived.in_place = inner->flag("in_place");
  derived.arguments = take_facts(*inner, "arguments");
  derived.tools = take_facts(*inner, "tools");
  derived.key = take_root(*inner, "key");
  inner->finish();
  return derived;
}

}  // namespace

std::string_view type_name(ArgumentType type) {
  return std::ranges::find(types, type, &std::pair<std::string_view, ArgumentType>::second)->first;
}

std::optional<std::string> right_value(const ScriptArgument& argument, const std::string& text) {
  std::optional<std::string> right;
  switch (argument.type) {
    case ArgumentType::text:
      right = text;
      break;
    case ArgumentType::integer:
      if (const auto value = whole<std::int64_t>(text)) right = fmt::to_string(*value);
      break;
    case ArgumentType::number:
      if (const auto value = whole<double>(text); value && std::isfinite(*value)) right = fmt::to_string(*value);
      break;
    case ArgumentType::flag:
      if (text == "true" || text == "1" || text == "yes" || text == "on") right = "true";
      if (text == "false" || text == "0" || text == "no" || text == "off") right = "false";
      break;
  }
  const bool chosen =
      argument.choices.empty() || (right && std::ranges::find(argument.choices, *right) != argument.choices.end());
  return chosen ? right : std::nullopt;
}

void read_supporting(JsonObject& object, Recipe& recipe) {
  if (const JsonValue::Array* scripts = object.try_array("supporting")) {
    if (scripts->size() > scripts_max) object.fail("supporting", fmt::format("has more than {} scripts", scripts_max));
    for (const JsonValue& script : *scripts) {
      recipe.supporting.push_back(read_script(script, object.origin()));
      const auto& id = recipe.supporting.back().id;
      if (std::ranges::count(recipe.supporting, id, &SupportingScript::id) > 1)
        throw_at(object.origin(), script.line, fmt::format("there are two supporting scripts \"{}\"", id));
    }
  }
  recipe.derived = take_derivation(object);
}

std::string note_of(const DerivationStep& step) {
  const nlohmann::json note = {{"derived", nlohmann::json(json_of(step))}};
  return note.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<DerivationStep> derivation_in(std::string_view note) {
  if (note.empty()) return std::nullopt;
  try {
    const std::string origin = "the note of a manifest";
    const JsonValue value = parse_json(note, origin);
    JsonObject object(value, origin, "it");
    return take_derivation(object);
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::invalid) throw;
    return std::nullopt;  // of a later version, or a stranger's
  }
}

}  // namespace sabath
