#include <fmt/format.h>

#include <memory>

#include "cli/described.h"
#include "cli/told/run_display.h"
#include "cli/told/trust_question.h"
#include "cli/verbs.h"
#include "run/commands.h"
#include "sabath/path.h"
#include "sabath/verbs/run.h"
#include "verbs/runs/run_asked.h"

namespace sabath::cli {
namespace {
namespace cmd_run {

// The run as commands that a user could type: fetches, copies, modules, variables, steps.
std::string script_of(const RunForecast& forecast, const ForeseenRun& run) {
  std::string text;
  for (const std::string& name : forecast.to_fetch) text += fmt::format("sabath fetch {}\n", name);
  const std::filesystem::path& directory = run.directory;
  text += shell_line({"mkdir", "-p", (directory / "work").string(), (directory / "output").string()}) + "\n";
  if (forecast.copies_code) {
    text += shell_line({"cp", "-r", "--reflink=auto", forecast.code.string(), (directory / "source").string()}) + "\n";
  }
  text += shell_line({"cd", (directory / "work").string()}) + "\n";
  for (const std::string& module : run.modules) text += shell_line({"module", "load", module}) + "\n";
  for (const auto& [name, value] : run.variables) text += fmt::format("export {}={}\n", name, shell_line({value}));
  for (const ForeseenCheck& check : run.checks) {
    const std::string wanted = (check.argv.empty() ? "" : ": ") + printable(check.expected, 1200);
    if (!check.argv.empty()) text += shell_line(check.argv) + "  ";
    text += fmt::format("# check {}{}\n", check.name, wanted);
  }
  for (const ForeseenStep& step : run.steps) text += shell_line(step.argv) + "\n";
  return text;
}

int show(Context& context, const RunForecast& forecast) {
  if (context.presentation.json) {
    context.out.record_text(to_json(forecast));
    return forecast.exit;
  }
  std::string text;
  if (forecast.trust.by.empty()) {
    text = "# not trusted yet: sabath run asks before it does this\n";
    std::string_view about = forecast.trust.about;
    for (std::size_t end = 0; (end = about.find('\n')) != about.npos; about.remove_prefix(end + 1))
      text += fmt::format("#   {}\n", about.substr(0, end));
    text += "\n";
  }
  for (const ForeseenAsset& asset : forecast.runs.front().assets) {
    if (!asset.code.empty() && asset.read_by.empty())
      text += fmt::format("# {} holds code that is not trusted yet: {}\n\n", asset.name, asset.code.front());
  }
  for (const ForeseenRun& run : forecast.runs) text += (text.empty() ? "" : "\n") + script_of(forecast, run);
  context.out.print(text);
  return forecast.exit;
}

int run(Context& context, const RunAsked& asked) {
  RunRequest request = run_request_of(asked);
  request.environment = context.environment;
  request.stop_signal = [&context] { return context.signals.received(); };
  Session session(context.configuration.session, context.ranks);
  RunDisplay display(context);
  if (can_ask(context))
    request.ask = [&](const std::string& about) { return ask_trust(context, request.model, about); };
  if (asked.dry_run) return show(context, foresee(session, request, display, context.stop));
  const RunsRecord record = sabath::run(session, request, display, context.stop);
  if (context.presentation.json) {
    context.out.record_text(to_json(record));
  } else {
    context.out.print(record.path.string() + "\n");
  }
  return record.exit;
}

Action declare_run(OptionSet& set) {
  const auto asked = std::make_shared<RunAsked>();
  declare_fields(set, *asked);
  return [asked](Context& context) { return run(context, *asked); };
}

}  // namespace cmd_run
}  // namespace

constexpr Verb run_verb{
    .name = "run",
    .summary = "run a model on verified bytes, and keep a record of it",
    .examples =
        "sabath run cosmoflow-nano                        fetch what is not here, verify, train\n"
        "sabath run cosmoflow-nano --set lr=0.01,0.001    one run for each value\n"
        "sabath run cosmoflow-nano --from weights         go on from another asset, which the record names\n"
        "sabath run net --engine ort --input x.npy        its ONNX graph, with latencies\n"
        "sabath run cosmoflow --ranks 8 --nodes 2         in a batch job, by its launcher\n"
        "sabath run ptychonn -n                           what would run\n"
        "sabath run cosmoflow-nano -- --seed 7            more arguments for the program",
    .details =
        "The record is a directory (docs/runs.md), whose path is printed at the end; sabath report reads it. The "
        "program runs with its own copy of the source; what is in the store is never changed. Exit code 7 when the "
        "data are not what was verified, 11 when the program failed, 130 or 143 when it was stopped. docs/running.md "
        "has the rest.",
    .keeps_state = true,
    .declare = cmd_run::declare_run,
};

}  // namespace sabath::cli
