#include "run/started.h"

#include <fmt/format.h>

#include "run/commands.h"
#include "sabath/path.h"

namespace sabath {
namespace {

void add_packages(std::vector<Started>& all, const char* kind, const std::vector<std::string>& start,
                  const std::vector<std::string>& packages) {
  for (const std::string& package : packages) {
    std::vector<std::string> argv = start;
    argv.push_back(package);
    all.push_back({{kind, package}, shell_line(argv)});
  }
}

// One that is built in asks programs of the machine, which the recipe's variables may lead elsewhere.
Started started(const RecipeCheck& check) {
  const auto& [name, relation, bound, argv, expect, parallel, seconds] = check;
  const std::string wanted =
      expect.empty() ? "" : ": " + printable(expect, 12 * expect.size());  // hidden characters become longer
  Started one{{"check", name, relation, bound, expect, parallel ? "ranks" : "one", fmt::to_string(seconds)}, {}};
  one.words.insert(one.words.end(), argv.begin(), argv.end());
  one.line = argv.empty()
                 ? "# check " + check.text()
                 : fmt::format("{}  # check {}{}{}", shell_line(argv), name, wanted, parallel ? " (each rank)" : "");
  return one;
}

void add_requirements(std::vector<Started>& all, const Requirements& requirements) {
  const auto& [python, pip, conda, system_modules, environment, checks] = requirements;
  add_packages(all, "module", {"module", "load"}, system_modules);
  add_packages(all, "conda", {"conda", "install"}, conda);
  if (!environment.empty()) all.push_back({{"environment", environment}, "# in the environment " + environment});
  if (!python.empty()) all.push_back({{"python", python}, "python3  # " + python});
  add_packages(all, "pip", {"pip", "install"}, pip);
  for (const RecipeCheck& check : checks) all.push_back(started(check));
}

void add_variables(std::vector<Started>& all, const Recipe& recipe) {
  for (const auto& [name, value] : recipe.env_vars)
    all.push_back({{"variable", name, value}, fmt::format("export {}={}", name, shell_line({value}))});
}

Started started(const Step& step) {
  const auto& [argv, shell, parallel] = step;
  Started one{{"step", shell ? "shell" : "argv", parallel ? "ranks" : "one"}, {}};
  one.words.insert(one.words.end(), argv.begin(), argv.end());
  std::vector<std::string> line = shell ? std::vector<std::string>{"/bin/sh", "-c", argv.front()} : argv;
  one.line = shell_line(line) + (parallel ? "  # each rank" : "");
  return one;
}

}  // namespace

std::vector<Started> what_starts(const Recipe& recipe, const std::vector<Step>& steps) {
  // What is not used here starts nothing: it describes, or it brings the bytes of the code, which have a commit.
  [[maybe_unused]] const auto& [schema, kind, name, version, title, abstract_text, description, homepage, licence,
                                references, citation, access, limits, reach, fragments, manifest, git, forks, source,
                                default_dataset, requirements, env_vars, run, infer, config, metrics, metadata,
                                supporting, derived, origin, about] = recipe;
  std::vector<Started> all;
  add_requirements(all, requirements);
  add_variables(all, recipe);
  for (const auto& [key, value] : config)
    all.push_back({{"config", key, value}, fmt::format("{{config.{}}}={}", key, shell_line({value}))});
  for (const Step& step : steps) all.push_back(started(step));
  return all;
}

std::vector<Started> what_starts(const Recipe& recipe, const SupportingScript& script) {
  [[maybe_unused]] const auto& [id, description, arguments, argv, per_file, inputs, outputs, source] = script;
  std::vector<Started> all;
  add_variables(all, recipe);
  Started& command = all.emplace_back(Started{{"script"}, shell_line(argv)});
  command.words.insert(command.words.end(), argv.begin(), argv.end());
  for (const ScriptArgument& argument : arguments) {
    [[maybe_unused]] const auto& [argument_name, type, fallback, help, choices] = argument;
    if (!fallback) continue;
    all.push_back(
        {{"default", argument_name, *fallback}, fmt::format("{{arg.{}}}={}", argument_name, shell_line({*fallback}))});
  }
  return all;
}

std::vector<std::string> words_of(std::span<const Started> all) {
  std::vector<std::string> words;
  for (const Started& one : all) {
    words.push_back(fmt::to_string(one.words.size()));
    words.insert(words.end(), one.words.begin(), one.words.end());
  }
  return words;
}

std::vector<std::string> lines_of(std::span<const Started> all) {
  std::vector<std::string> lines;
  for (const Started& one : all) lines.push_back(one.line);
  return lines;
}

}  // namespace sabath
