#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "cli/described.h"
#include "cli/frame/presentation.h"
#include "cli/ranks.h"
#include "cli/show/render.h"
#include "cli/told/trust_question.h"
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

constexpr std::size_t text_column = 19, narrow = 40;  // columns

// Below one another from the column where the text begins; `width` 0: as one line.
std::string hanging(const std::string& text, std::size_t width, std::size_t column) {
  if (width < narrow) return text + "\n";
  return wrap(text, width, std::string(column, ' ')).substr(column);
}

std::string text_of(const DoctorRecord& record, bool color, std::size_t width) {
  std::string text;
  for (const Finding& check : record.checks) {
    const std::string name = fmt::format("{:<12}", check.name);
    text += fmt::format("{}{}  {} ", paint(state_name(check.state), colour(check.state), color),
                        check.state == Finding::State::ok ? "  " : "", name);
    text += hanging(printable(check.text, 2000), width, text_column + name.size() - 12);
    if (!check.remedy.empty())
      text += fmt::format("{:19}do: ", "") + hanging(printable(check.remedy, 2000), width, text_column + 4);
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

int run(Context& context, DoctorRequest request) {
  const bool later = is_later_rank(context.environment);
  if (later && (!is_first_of_node(context.environment) || !request.model.empty())) return 0;
  Session session(context.configuration.session);
  NoEvents unheard;
  request.environment = context.environment;
  if (can_ask(context))
    request.ask = [&](const std::string& about) { return ask_trust(context, request.model, about); };
  const DoctorRecord record = doctor(session, request, unheard, context.stop);
  if (later) return tell_of_node(context, record);
  if (context.presentation.json) {
    context.out.record_text(to_json(record));
  } else {
    const bool terminal = ::isatty(STDOUT_FILENO) == 1;
    const std::size_t width = terminal ? terminal_width(STDOUT_FILENO, context.environment) : 0;
    context.out.print(text_of(record, context.presentation.color_out, width));
  }
  return record.exit;
}

Action declare_doctor(OptionSet& set) {
  const auto request = std::make_shared<DoctorRequest>();
  declare_fields(set, *request);
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_doctor
}  // namespace

constexpr Verb doctor_verb{
    .name = "doctor",
    .summary = "check this machine, this site and this store, with remedies",
    .examples =
        "sabath doctor                    one line a check\n"
        "sabath doctor --store /scratch/me/cache\n"
        "sabath doctor --for cosmoflow --ranks 8   whether it could run here: modules, packages, its checks\n"
        "sabath doctor --json             to attach to a report\n"
        "mpirun sabath doctor             rank 0 prints; of each other node its first rank tells what fails there",
    .details =
        "It opens no network connection and leaves nothing behind; to learn what the store's filesystem can do it "
        "makes a few small files beside the store for a moment. The exit code is that of the first line that says "
        "fail. With --for it starts the checks of a recipe, as sabath run would (docs/checks.md): code that is not "
        "trusted yet is asked about first, or the exit code is 4. Its last line is the verdict.",
    .declare = cmd_doctor::declare_doctor,
};

}  // namespace sabath::cli
