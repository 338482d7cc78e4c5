// What a check sees, which is what the run's programs will see, and what it found. Plain values; one thread.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "run/environment.h"
#include "sabath/recipe_check.h"

namespace sabath {

struct CheckPlace {
  VariableMap environment;                     // modules are loaded, and the recipe's variables set
  std::filesystem::path directory, companion;  // where the run's programs work; find_companion()
  std::string python;                          // the run's interpreter; empty: there is none
  std::string node_disk;                       // of the site profile, "/local/{user}"; may be empty
  std::string launcher;                        // the program that starts ranks; empty: none does
  unsigned ranks = 1;
  bool tagged = false;     // the launcher labels lines with their rank
  bool contained = false;  // the run's programs are in a container, which has a PATH of its own
  std::function<std::vector<std::string>(std::vector<std::string> argv)> inside;       // in the run's container, if any
  std::function<std::vector<std::string>(std::vector<std::string> argv)> by_launcher;  // once for each rank
  std::stop_token stop;
};

struct CheckFound {
  // not_known: nothing is there that could be asked. It counts as not met. not_asked: it was not to be asked.
  enum class State { met, not_met, not_known, not_asked };
  State state = State::not_known;
  std::string found;     // on one line, printable
  std::string known_by;  // what said so
  std::string remedy;    // unless it is met
};

[[nodiscard]] std::string_view state_text(CheckFound::State state);  // "met", "not met", "not known", "not asked"

struct CheckResult {
  std::string name, expected;  // expected: ">=64GB", "a line with [X] MPI", "" of one that is just there
  CheckFound outcome;
  double seconds = 0;
  [[nodiscard]] bool met() const { return outcome.state == CheckFound::State::met; }
  [[nodiscard]] std::string text() const;      // "memory>=64GB"
  [[nodiscard]] std::string sentence() const;  // "check memory>=64GB: met: 67.3 GB (MemTotal, of this node)"
};

// One of the recipe's own: argv as it is launched, placeholders filled in.
struct OwnCheck {
  const RecipeCheck& check;
  const std::vector<std::string>& argv;
  bool tagged = false;
  unsigned ranks = 1;  // that print; 1 where their lines have no label
};

[[nodiscard]] std::string expected_of(const RecipeCheck& check);
// Throws Error{invalid} for an `expect` that is no expression.
void refuse_bad_expectation(const RecipeCheck& check);
// Throws Error{interrupted}.
[[nodiscard]] CheckResult perform(const OwnCheck& own, const CheckPlace& place);
[[nodiscard]] CheckResult perform_builtin(const RecipeCheck& check, const CheckPlace& place);

}  // namespace sabath
