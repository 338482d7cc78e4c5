#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/doctor.h"
#include "cli/presentation.h"
#include "cli/render.h"
#include "cli/verbs.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {
namespace cmd_doctor {

const char* word(Check::State state) {
  switch (state) {
    case Check::State::ok:
      return "ok";
    case Check::State::warn:
      return "warn";
    case Check::State::fail:
      break;
  }
  return "fail";
}

Colour colour(Check::State state) {
  return state == Check::State::ok ? Colour::green : state == Check::State::warn ? Colour::yellow : Colour::red;
}

std::string text_of(const Findings& findings, bool color) {
  std::string text;
  for (const Check& check : findings.checks()) {
    text += fmt::format("{}{}  {:<12} {}\n", paint(word(check.state), colour(check.state), color),
                        check.state == Check::State::ok ? "  " : "", check.name, printable(check.text, 2000));
    if (!check.remedy.empty()) text += fmt::format("{:19}{} {}\n", "", "do:", printable(check.remedy, 2000));
  }
  return text;
}

nlohmann::ordered_json record_of(const Findings& findings, int exit) {
  nlohmann::ordered_json record{{"schema", 1}, {"checks", nlohmann::ordered_json::array()}};
  for (const Check& check : findings.checks()) {
    record["checks"].push_back({{"name", check.name},
                                {"state", word(check.state)},
                                {"text", check.text},
                                {"remedy", text_or_null(check.remedy)}});
  }
  record["exit"] = exit;
  return record;
}

int run(Context& context) {
  Findings findings;
  check_libraries(context, findings);
  check_machine(context, findings);
  check_network(context, findings);
  check_recipes(context, findings);
  check_store(context, findings);
  const int exit = exit_of(findings);
  if (context.presentation.json) {
    context.out.record(record_of(findings, exit));
  } else {
    context.out.print(text_of(findings, context.presentation.color_out));
  }
  return exit;
}

Action declare(OptionSet&) { return run; }

}  // namespace cmd_doctor
}  // namespace

int exit_of(const Findings& findings) {
  const auto failed = std::ranges::find(findings.checks(), Check::State::fail, &Check::state);
  return failed == findings.checks().end() ? 0 : exit_code(failed->kind);
}

constexpr Verb doctor_verb{
    "doctor",
    "check this machine, this site and this store, with remedies",
    "sabath doctor                    one line a check\n"
    "sabath doctor --store /scratch/me/cache\n"
    "sabath doctor --json             to attach to a report",
    "It opens no network connection and leaves nothing behind; to learn what the store's filesystem can do it makes a "
    "few "
    "small files beside the store for a moment. The exit code is that of the first line that says fail.",
    false,
    cmd_doctor::declare,
};

}  // namespace sabath::cli
