#include <memory>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "sabath/log_line.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_log {

constexpr const char* metrics_variable = "SABATH_METRICS";

struct Options {
  std::vector<std::string> pairs;
};

int run(Context& context, const Options& options) {
  Session session(context.configuration.session);
  NoEvents unheard;
  const LogRequest request{options.pairs, context.environment.get(metrics_variable).value_or("")};
  const LogRecord record = log_line(session, request, unheard, context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
  } else if (record.file.empty()) {
    context.out.print(record.line + "\n");
  }
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.arguments("NAME=NUMBER", options->pairs, true, "epoch, step, rank and time say where; all else is a value");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_log
}  // namespace

constexpr Verb log_verb{
    "log",
    "print one line of metrics that every run record understands",
    "sabath log epoch=3 loss=0.12 val_mae=0.31\n"
    "sabath log step=1200 lr=1e-4 >> train.log\n"
    "sabath report train.log              what was logged, as a table",
    "For programs and shell scripts whose own output SABATH does not read. With SABATH_METRICS set, as by "
    "`sabath run`, the line is appended to that file instead of standard output. A number may be nan, inf or -inf. "
    "docs/metrics.md has the same in one line of Python or C.",
    false,
    cmd_log::declare,
};

}  // namespace sabath::cli
