#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/frame/presentation.h"
#include "cli/verbs.h"
#include "sabath/doctor.h"
#include "sabath/path.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_doctor {

Colour colour(Finding::State state) {
  return state == Finding::State::ok ? Colour::green : state == Finding::State::warn ? Colour::yellow : Colour::red;
}

std::string text_of(const DoctorRecord& record, bool color) {
  std::string text;
  for (const Finding& check : record.checks) {
    text += fmt::format("{}{}  {:<12} {}\n", paint(state_name(check.state), colour(check.state), color),
                        check.state == Finding::State::ok ? "  " : "", check.name, printable(check.text, 2000));
    if (!check.remedy.empty()) text += fmt::format("{:19}{} {}\n", "", "do:", printable(check.remedy, 2000));
  }
  return text;
}

int run(Context& context) {
  Session session(context.configuration.session);
  NoEvents unheard;
  const DoctorRecord record = doctor(session, {context.environment}, unheard, context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
  } else {
    context.out.print(text_of(record, context.presentation.color_out));
  }
  return record.exit;
}

Action declare(OptionSet&) { return run; }

}  // namespace cmd_doctor
}  // namespace

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
