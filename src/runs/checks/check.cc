#include "checks/check.h"

#include <fmt/format.h>

#include <chrono>
#include <map>

#include "base/text.h"
#include "checks/builtin.h"
#include "checks/program_answer.h"
#include "metrics/line_pattern.h"
#include "run/commands.h"
#include "run/rank_streams.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using State = CheckFound::State;
using CheckClock = std::chrono::steady_clock;

constexpr std::size_t found_length_max = 300;

CheckResult timed(const RecipeCheck& check, const std::function<CheckFound()>& find) {
  const auto begin = CheckClock::now();
  CheckResult result{check.name, expected_of(check), find()};
  result.seconds = std::chrono::duration<double>(CheckClock::now() - begin).count();
  for (std::string* text : {&result.outcome.found, &result.outcome.known_by, &result.outcome.remedy})
    *text = printable(*text, found_length_max);
  return result;
}

// The lines of each rank; of all together where the launcher does not label them.
std::map<std::optional<int>, std::string> by_rank(const OwnCheck& own, const CheckAnswer& answer) {
  std::map<std::optional<int>, std::string> all;
  for (const std::string* text : {&answer.out, &answer.err}) {
    const auto add = [&](std::optional<int> rank, std::string_view bytes) { all[rank] += bytes; };
    RankStreams streams(own.tagged, add, RankStreams::Inside::of_its_rank);  // no rank speaks for another one
    streams.take(*text);
    streams.finish();
    for (auto& [rank, lines_of_rank] : all) {
      if (!lines_of_rank.ends_with('\n')) lines_of_rank += '\n';  // the other stream begins a line of its own
    }
  }
  return all;
}

CheckFound judge_lines(const OwnCheck& own, const CheckAnswer& answer, const LinePattern& pattern) {
  unsigned with_it = 0;
  std::string first, seen;
  for (const auto& [rank, text] : by_rank(own, answer)) {
    if (own.ranks > 1 && !rank) continue;  // the launcher's own words
    bool found = false;
    for_each_line(text, [&](std::string_view line) {
      if (seen.empty()) seen = trim(line);
      if (found || !pattern.is_in(line)) return;
      found = true;
      if (first.empty()) first = trim(line);
    });
    with_it += found ? 1U : 0U;
  }
  const bool met = with_it >= own.ranks;
  const std::string ranks = own.ranks > 1 ? fmt::format("{} of {} ranks", with_it, own.ranks) : "";
  const std::string line = met            ? first
                           : with_it > 0  ? ""
                           : seen.empty() ? answer.cut ? "no line ends in what is looked at" : "it printed nothing"
                                          : "no such line; its first is: " + seen;
  return {met ? State::met : State::not_met, ranks + (ranks.empty() || line.empty() ? "" : ": ") + line, {}, {}};
}

CheckFound find_own(const OwnCheck& own, const CheckPlace& place) {
  const CheckAsked asked{.argv = own.argv,
                         .environment = place.environment,
                         .directory = place.directory,
                         .companion = place.companion,
                         .patience = std::chrono::seconds(own.check.seconds),
                         .keep = answer_bytes_kept * (1 + own.ranks / 256)};
  const CheckAnswer answer = ask_program(asked, place.stop);
  CheckFound outcome;
  if (!answer.good()) {
    outcome = {State::not_met, trouble_of(answer, asked), {}, {}};
  } else if (own.check.expect.empty()) {
    outcome = {State::met, "exit status 0", {}, {}};
  } else {
    outcome = judge_lines(own, answer, LinePattern(own.check.expect));
  }
  outcome.known_by = shell_line(own.argv);
  if (outcome.state != State::met) {
    outcome.remedy = answer.not_started.empty() ? "the recipe's author knows what it looks for"
                                                : "install the program, or load the module that has it";
  }
  return outcome;
}

}  // namespace

std::string_view state_text(State state) {
  switch (state) {
    case State::met:
      return "met";
    case State::not_met:
      return "not met";
    case State::not_known:
      return "not known";
    case State::not_asked:
      break;
  }
  return "not asked";
}

std::string CheckResult::text() const {
  return expected.starts_with('<') || expected.starts_with('>') || expected.starts_with('=') ? name + expected : name;
}

std::string CheckResult::sentence() const {
  std::string sentence = fmt::format("check {}: {}", text(), state_text(outcome.state));
  if (!outcome.found.empty()) sentence += ": " + outcome.found;
  if (!outcome.known_by.empty()) sentence += fmt::format(" ({})", outcome.known_by);
  return sentence;
}

std::string expected_of(const RecipeCheck& check) {
  if (check.argv.empty()) return check.relation + check.bound;
  const std::string where = check.parallel ? " of each rank" : "";
  return check.expect.empty() ? "exit status 0" + where
                              : fmt::format("a line{} with {}", where, printable(check.expect, 1000));
}

void refuse_bad_expectation(const RecipeCheck& check) {
  if (!check.expect.empty()) static_cast<void>(LinePattern(check.expect));
}

CheckResult perform(const OwnCheck& own, const CheckPlace& place) {
  return timed(own.check, [&] { return find_own(own, place); });
}

CheckResult perform_builtin(const RecipeCheck& check, const CheckPlace& place) {
  return timed(check, [&] { return find_builtin(check, place); });
}

}  // namespace sabath
