#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "cli/described.h"
#include "cli/show/render.h"
#include "cli/told/plan_text.h"
#include "cli/verbs.h"
#include "machine/walltime.h"
#include "sabath/verbs/plan.h"

namespace sabath::cli {
namespace {
namespace cmd_plan {

struct Options {
  PlanRequest request;
  std::optional<std::string> deadline;
};

int run(Context& context, const Options& options) {
  SessionSettings settings = context.configuration.session;
  if (options.deadline) settings.deadline = deadline_of(context.environment, options.deadline);
  PlanRecord record;
  {
    const auto progress = context.make_progress();
    Session session(settings);
    record = session.plan(options.request, *progress, context.stop);
  }
  record.exit = context.signals.code_after(record.exit);
  if (context.presentation.json) {
    context.out.record_text(to_json(record));
  } else {
    context.out.print(to_text(record, context.presentation.verbose));
  }
  for (const Failure& failure : record.refusals) {
    const std::string text = render_failure(failure, context.presentation.verbose, context.presentation.color);
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  declare_fields(set, options->request);
  set.option(
      "--deadline", "TIME", options->deadline,
      "when this process will be ended: 2h30m, 01:30:00, 2026-11-21T18:00, or none (default: as the batch system "
      "says)");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_plan
}  // namespace

constexpr Verb plan_verb{
    .name = "plan",
    .summary = "show what a fetch would move, if it fits, and how long it takes",
    .examples =
        "sabath plan cosmoflow                         the model and its default dataset\n"
        "sabath plan -d two --json                     one record\n"
        "sabath plan cosmoflow --to /dev/shm/$USER     whether it fits into the node's memory, too\n"
        "sabath plan cosmoflow --deadline 2h           whether it is done in two hours, by earlier rates",
    .details =
        "No content moves and nothing is written. Exit code 0: it fits; 5: it does not, by bytes, inodes, quota, "
        "file-size "
        "limit, memory or walltime; 4: a login is needed first. `fetch` and `stage` hold space and time against the "
        "same bounds before they begin; that a login has ended their sources tell them. "
        "docs/planning.md says what each line means.",
    .declare = cmd_plan::declare,
};

}  // namespace sabath::cli
