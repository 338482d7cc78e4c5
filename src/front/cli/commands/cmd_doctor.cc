#include <fmt/format.h>

#include "cli/frame/presentation.h"
#include "cli/ranks.h"
#include "cli/verbs.h"
#include "machine/machine.h"
#include "sabath/path.h"
#include "sabath/session.h"
#include "sabath/verbs/doctor.h"

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

// What a later rank finds reaches people only where it fails: the other lines are those of rank 0, or nearly.
int tell_of_node(const Context& context, const DoctorRecord& record) {
  const std::string node = node_name([&](const std::string& name) { return context.environment.get(name); });
  for (const Finding& check : record.checks) {
    if (check.state != Finding::State::fail) continue;
    context.warn(fmt::format("{}: {} fails: {}", printable(node), check.name, printable(check.text, 2000)));
    if (!check.remedy.empty()) context.say(fmt::format("hint: {}", printable(check.remedy, 2000)));
  }
  return record.exit;
}

int run(Context& context) {
  const bool later = is_later_rank(context.environment);
  if (later && !is_first_of_node(context.environment)) return 0;
  Session session(context.configuration.session);
  NoEvents unheard;
  const DoctorRecord record = doctor(session, {context.environment}, unheard, context.stop);
  if (later) return tell_of_node(context, record);
  if (context.presentation.json) {
    context.out.record_text(to_json(record));
  } else {
    context.out.print(text_of(record, context.presentation.color_out));
  }
  return record.exit;
}

Action declare(OptionSet&) { return run; }

}  // namespace cmd_doctor
}  // namespace

constexpr Verb doctor_verb{
    .name = "doctor",
    .summary = "check this machine, this site and this store, with remedies",
    .examples =
        "sabath doctor                    one line a check\n"
        "sabath doctor --store /scratch/me/cache\n"
        "sabath doctor --json             to attach to a report\n"
        "mpirun sabath doctor             rank 0 prints; of each other node its first rank tells what fails there",
    .details =
        "It opens no network connection and leaves nothing behind; to learn what the store's filesystem can do it "
        "makes a few small files beside the store for a moment. The exit code is that of the first line that says "
        "fail.",
    .declare = cmd_doctor::declare,
};

}  // namespace sabath::cli
