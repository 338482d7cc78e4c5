#include "harness/run_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/companion.h"
#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

CheckPlace place_of_checks(const RunCall& call, const ResolvedRun& run, const RunEnvironment& environment,
                           const VariableMap& variables, const std::filesystem::path& work) {
  CheckPlace place;
  place.environment = variables;
  place.directory = work;
  place.companion = find_companion(call.caller.settings.program);
  place.contained = !run.container_kind.empty();
  place.python = place.contained ? "python3" : environment.python.program;
  place.node_disk = run.site.jobs.node_disk;
  place.stop = call.stop;
  place.ranks = run.ranks;
  const WrapperValues values{run.ranks, run.nodes, work.string(), run.container_image, {work.parent_path().string()}};
  place.inside = [&run, values](std::vector<std::string> argv) {
    return run.container_kind.empty() ? argv : wrap(run.site.containers.at(run.container_kind), values, argv);
  };
  const Wrapper& launcher = run.site.launchers.at(run.launcher);
  place.by_launcher = [&launcher, values](std::vector<std::string> argv) { return wrap(launcher, values, argv); };
  place.launcher = launcher.argv.empty() ? "" : launcher.argv.front();
  place.tagged = launcher.tags_output;
  return place;
}

void tell_check(const RunCall& call, const CheckResult& result) {
  result.met() ? call.say(result.sentence()) : call.warn(result.sentence());
}

CheckResult perform_own(const RecipeCheck& check, const RunStep& step, const CheckPlace& place) {
  if (const std::string missing = not_fetched_in(step.argv); !missing.empty()) {
    const std::string why = printable(missing) + " is not fetched";
    return {check.name, expected_of(check), {CheckFound::State::not_asked, why, "", "fetch it"}};
  }
  const bool apart = check.parallel && step.tagged;
  return perform({check, step.argv, step.tagged, apart ? static_cast<unsigned>(step.ranks) : 1U}, place);
}

}  // namespace

std::string not_fetched_in(const std::vector<std::string>& argv) {
  constexpr std::string_view mark = "NOT-FETCHED:";
  for (const std::string& word : argv) {
    const auto at = word.find(mark);
    if (at != std::string::npos) return word.substr(at + mark.size());
  }
  return "";
}

void run_checks(const RunCall& call, const ResolvedRun& run, const RunEnvironment& environment,
                const VariableMap& variables, const std::filesystem::path& work, const std::vector<RunStep>& own,
                ChecksMade& checked) {
  std::vector<std::vector<std::string>> argv;
  for (const RunStep& step : own) argv.push_back(step.argv);
  if (checked.done && checked.argv == argv) return;
  const CheckPlace place = place_of_checks(call, run, environment, variables, work);
  std::vector<CheckResult> results;
  auto step = own.begin();
  for (const RecipeCheck& check : run.model.requirements.checks) {
    results.push_back(check.argv.empty() ? perform_builtin(check, place) : perform_own(check, *step++, place));
    tell_check(call, results.back());
  }
  checked = {std::move(argv), std::move(results), true};
}

std::vector<CheckResult> unasked_checks(const Requirements& requirements) {
  std::vector<CheckResult> results;
  for (const RecipeCheck& check : requirements.checks)
    results.push_back({check.name, expected_of(check), {CheckFound::State::not_asked, "", "", ""}});
  return results;
}

std::vector<std::string> unmet(const std::vector<CheckResult>& results) {
  std::vector<std::string> names;
  for (const CheckResult& result : results) {
    if (!result.met()) names.push_back(result.text());
  }
  return names;
}

void refuse_unmet(const ResolvedRun& run, const std::vector<CheckResult>& results,
                  const std::filesystem::path& record) {
  const std::vector<std::string> names = unmet(results);
  if (names.empty()) return;
  std::string hint;
  for (const CheckResult& result : results) {
    if (!result.met()) hint += fmt::format("{}: {}\n", result.text(), result.outcome.remedy);
  }
  hint += fmt::format("{} warn runs it all the same; the record is {}", option_text("checks"),
                      printable(record.native(), 4096));
  throw Error(FailureKind::command,
              fmt::format("{} was not run: {} of {} checks {} not met: {}", run.model.name, names.size(),
                          results.size(), names.size() == 1 ? "is" : "are", fmt::join(names, ", ")),
              hint);
}

nlohmann::ordered_json to_json(const std::vector<CheckResult>& results) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  const auto or_null = [](const std::string& text) {
    return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
  };
  for (const CheckResult& result : results) {
    const bool asked = result.outcome.state != CheckFound::State::not_asked;
    all.push_back({{"name", result.name},
                   {"expected", or_null(result.expected)},
                   {"state", state_text(result.outcome.state)},
                   {"found", or_null(result.outcome.found)},
                   {"known_by", or_null(result.outcome.known_by)},
                   {"seconds", asked ? nlohmann::ordered_json(result.seconds) : nlohmann::ordered_json(nullptr)}});
  }
  return all;
}

}  // namespace sabath
