#include "recipe/run_sets.h"

#include <fmt/format.h>

#include <algorithm>

#include "recipe/fields.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t pattern_size_max = 1000;  // bytes

bool take_flag(JsonObject& object, std::string_view key) {
  const JsonValue* value = object.find(key);
  if (value == nullptr) return false;
  if (const bool* flag = value->get<bool>()) return *flag;
  object.fail(key, "must be true or false");
}

Step read_step(const JsonValue& value, std::string_view origin) {
  JsonObject object(value, origin, "a step");
  Step step;
  const JsonValue::Array* argv = object.try_array("argv");
  const JsonValue* shell = object.find("shell");
  if ((argv == nullptr) == (shell == nullptr))
    throw_at(origin, value.line, "a step needs either \"argv\" or \"shell\"");
  if (shell != nullptr) {
    check_template(*shell, origin);
    step = {{object.text("shell")}, true};
  } else {
    for (const JsonValue& word : *argv) {
      check_template(word, origin);
      step.argv.push_back(*word.get<std::string>());
    }
    if (step.argv.empty() || step.argv[0].empty()) object.fail("argv", "names no command");
  }
  step.parallel = take_flag(object, "parallel");
  object.finish();
  return step;
}

RunSets take_sets(JsonObject& object, std::string_view key, AssetKind kind) {
  RunSets sets;
  const auto run = object.try_object(key, fmt::format("\"{}\"", key));
  if (!run) return sets;
  for (const JsonMember& set : run->members()) {
    if (!is_name(set.key)) throw_at(object.origin(), set.line, "the key of a run set must be the name of a dataset");
    const auto* array = set.value.get<JsonValue::Array>();
    if (array == nullptr || array->empty()) {
      throw_at(object.origin(), set.line, fmt::format("run set \"{}\" must be a list of steps, not empty", set.key));
    }
    std::vector<Step> steps;
    for (const JsonValue& value : *array) steps.push_back(read_step(value, object.origin()));
    sets.emplace_back(set.key, std::move(steps));
  }
  if (!is_code(kind)) object.fail(key, "is only for models and workflows");
  return sets;
}

std::vector<std::string> take_patterns(JsonObject& object) {
  std::vector<std::string> patterns = take_lines(object, "metrics");
  for (const std::string& pattern : patterns) {
    if (pattern.size() > pattern_size_max) {
      object.fail("metrics", fmt::format("holds a pattern of more than {} bytes", pattern_size_max));
    }
  }
  return patterns;
}

}  // namespace

std::map<std::string, std::string> take_facts(JsonObject& object, std::string_view key) {
  std::map<std::string, std::string> facts;
  const auto inner = object.try_object(key, fmt::format("\"{}\"", key));
  if (!inner) return facts;
  for (const JsonMember& fact : inner->members()) {
    if (!is_name(fact.key)) {
      throw_at(object.origin(), fact.line, fmt::format("a key of \"{}\" must be a name", key));
    }
    if (fact.value.is_null()) continue;  // not known
    std::string& text = facts[fact.key];
    if (const bool* flag = fact.value.get<bool>()) {
      text = *flag ? "true" : "false";
    } else if (const std::uint64_t* number = fact.value.get<std::uint64_t>()) {
      text = fmt::to_string(*number);
    } else if (const JsonNumber* real = fact.value.get<JsonNumber>()) {
      text = real->text;
    } else {
      text = checked_text(fact.value, object.origin(), fmt::format("\"{}\"", fact.key));
    }
  }
  return facts;
}

void read_run_sets(JsonObject& object, Recipe& recipe) {
  recipe.run = take_sets(object, "run", recipe.kind);
  recipe.infer = take_sets(object, "infer", recipe.kind);
  recipe.config = take_facts(object, "config");
  recipe.metrics = take_patterns(object);
  if (const std::optional<std::string> text = object.try_text("source")) {
    recipe.source = RelativePath::try_parse(*text);
    if (!recipe.source) object.fail("source", fmt::format("\"{}\" is no relative path", printable(*text)));
    if (recipe.git) object.fail("source", "appears with \"git\"", "the code is either beside the recipe or in git");
    if (!is_code(recipe.kind)) object.fail("source", "is only for models and workflows");
  }
  if (object.find("default_dataset") == nullptr) return;
  recipe.default_dataset = take_name(object, "default_dataset");
  if (!is_code(recipe.kind)) object.fail("default_dataset", "is only for models and workflows");
  const auto is_default = [&](const auto& set) { return set.first == recipe.default_dataset; };
  if (!recipe.run.empty() && std::none_of(recipe.run.begin(), recipe.run.end(), is_default)) {
    object.fail("default_dataset", fmt::format("\"{}\" is no key of \"run\"", recipe.default_dataset));
  }
}

}  // namespace sabath
