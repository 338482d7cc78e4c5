#include <memory>

#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/verbs/log.h"

namespace sabath::cli {
namespace {
namespace cmd_log {

constexpr const char* metrics_variable = "SABATH_METRICS";

void print(Context& context, const LogRecord& record) {
  if (record.file.empty()) context.out.print(record.line + "\n");
}

Action declare_line(OptionSet& set) {
  const auto request = std::make_shared<LogRequest>();
  declare_fields(set, *request);
  return [request](Context& context) {
    request->file = context.environment.get(metrics_variable).value_or("");
    return perform<log_line>(context, *request, print);
  };
}

}  // namespace cmd_log
}  // namespace

constexpr Verb log_verb{
    .name = "log",
    .summary = "print one line of metrics that every run record understands",
    .examples =
        "sabath log epoch=3 loss=0.12 val_mae=0.31\n"
        "sabath log step=1200 lr=1e-4 >> train.log\n"
        "sabath report train.log              what was logged, as a table",
    .details =
        "For programs and shell scripts whose own output SABATH does not read. With SABATH_METRICS set, as by "
        "`sabath run`, the line is appended to that file instead of standard output. A number may be nan, inf or "
        "-inf. docs/metrics.md has the same in one line of Python or C.",
    .declare = cmd_log::declare_line,
};

}  // namespace sabath::cli
