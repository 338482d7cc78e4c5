#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

#include "base/text.h"
#include "cli/show/render.h"
#include "cli/told/plan_text.h"
#include "cli/verbs.h"
#include "machine/walltime.h"
#include "sabath/plan.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_plan {

struct Options {
  PlanRequest request;
  std::optional<std::uint64_t> requests;
  std::optional<std::string> deadline;
};

int run(Context& context, Options& options) {
  SessionSettings settings = context.configuration.session;
  if (options.deadline) settings.deadline = deadline_of(context.environment, options.deadline);
  PlanRequest request = options.request;
  request.requests_max = static_cast<unsigned>(options.requests.value_or(request.requests_max));
  PlanRecord record;
  {
    const auto progress = context.make_progress();
    Session session(settings);
    record = session.plan(request, *progress, context.stop);
  }
  record.exit = context.signals.code_after(record.exit);
  if (context.presentation.json) {
    context.out.record(json_of(record));
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
  FetchRequest& fetch = options->request.fetch;
  set.arguments("NAME", fetch.names, false, "datasets or models; a model brings its default dataset");
  set.option("-m,--model", "MODEL", fetch.models, "a model, without a dataset unless one is named");
  set.option("-d,--dataset", "DATASET", fetch.datasets, "a dataset");
  set.count("--sample", "N", UINT64_MAX, fetch.selection.sample,
            "only the first N files of each archive and list, and of the single files");
  set.option(
      "--select", "GLOB", fetch.selection.select,
      "only files whose path in the asset matches, '!GLOB': that does not; again for more; ** is any directories");
  set.flag("--force", fetch.force, "as for a fetch that believes nothing of what is there");
  set.option("--to", "DIR", options->request.to, "also whether `stage` could bring it to this directory of this node");
  set.option(
      "--deadline", "TIME", options->deadline,
      "when this process will be ended: 2h30m, 01:30:00, 2026-11-21T18:00, or none (default: as the batch system "
      "says)");
  set.count("--requests", "N", 10'000, options->requests,
            "ask at most N times for sizes that no recipe states (default 64; 0, or --offline: never)");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_plan
}  // namespace

constexpr Verb plan_verb{
    "plan",
    "say what a fetch would move, from where, if it fits, and how long it takes",
    "sabath plan cosmoflow                         the model and its default dataset\n"
    "sabath plan -d two --json                     one record\n"
    "sabath plan cosmoflow --to /dev/shm/$USER     whether it fits into the node's memory, too\n"
    "sabath plan cosmoflow --deadline 2h           whether it is done in two hours, by earlier rates",
    "No content moves and nothing is written. Exit code 0: it fits; 5: it does not, by bytes, inodes, quota, file-size "
    "limit, memory or walltime; 4: a login is needed first. `fetch` and `stage` hold room and time against the "
    "same bounds before they begin; that a login has ended their sources tell them. "
    "docs/planning.md says what each line means.",
    false,
    cmd_plan::declare,
};

}  // namespace sabath::cli
