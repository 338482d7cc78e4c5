#include <fcntl.h>
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/file.h"
#include "cli/verbs.h"
#include "metrics/json_scan.h"
#include "metrics/number.h"
#include "metrics/record.h"
#include "metrics/words.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {
namespace cmd_log {

constexpr const char* metrics_variable = "SABATH_METRICS";

struct Options {
  std::vector<std::string> pairs;
};

struct Pair {
  std::string name;
  std::string_view text;
  double value = 0;
};

Pair parse_pair(const std::string& text) {
  const std::size_t sign = text.rfind('=');
  const auto value = sign == std::string::npos ? std::nullopt : try_number(std::string_view(text).substr(sign + 1));
  if (!value || sign == 0) {
    throw Error(FailureKind::usage, fmt::format("'{}' is no NAME=NUMBER", printable(text)),
                "write for example: sabath log epoch=3 loss=0.12");
  }
  return {text.substr(0, sign), std::string_view(text).substr(sign + 1), *value};
}

std::string integer_text(const Pair& pair) {
  if (const auto integer = try_integer(pair.text)) return fmt::format("{}", *integer);
  throw Error(FailureKind::usage, fmt::format("{} must be a whole number, not '{}'", pair.name, printable(pair.text)));
}

std::string line_of(const std::vector<std::string>& texts) {
  double time = unix_seconds();
  std::string place, values;
  for (const std::string& text : texts) {
    const Pair pair = parse_pair(text);
    if (pair.name == "epoch") {
      place += fmt::format(",\"epoch\":{}", number_json(pair.value));
    } else if (pair.name == "step" || pair.name == "rank") {
      place += fmt::format(",\"{}\":{}", pair.name, integer_text(pair));
    } else if (pair.name == "time") {
      time = pair.value;
    } else {
      values += fmt::format("{}{}:{}", values.empty() ? "" : ",", json_quote(pair.name), number_json(pair.value));
    }
  }
  if (values.empty()) throw Error(FailureKind::usage, "there is no value to log", "add NAME=NUMBER");
  return fmt::format(":::SABATH {{\"time\":{:.6f}{},\"values\":{{{}}}}}\n", time, place, values);
}

int run(Context& context, const Options& options) {
  const std::string line = line_of(options.pairs);
  const auto file = context.environment.get(metrics_variable);
  if (!file) {
    if (context.presentation.json) {
      context.out.record(nlohmann::ordered_json{{"schema", 1}, {"line", line.substr(0, line.size() - 1)}, {"exit", 0}});
    } else {
      context.out.print(line);
    }
    return 0;
  }
  // One write(2) in append mode: the lines of several processes do not mix.
  Fd fd = open_file(*file, O_WRONLY | O_APPEND | O_CREAT);
  write_all(fd.get(), std::as_bytes(std::span(line)), *file);
  close_file(std::move(fd), *file);
  if (context.presentation.json)
    context.out.record(nlohmann::ordered_json{{"schema", 1}, {"file", *file}, {"exit", 0}});
  return 0;
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
    "For programs and shell scripts whose own output nobody reads. With SABATH_METRICS set, which `sabath run` does, "
    "the "
    "line is appended to that file in place of standard output. A number may be nan, inf or -inf. docs/metrics.md has "
    "the "
    "same in one line of Python or C.",
    false,
    cmd_log::declare,
};

}  // namespace sabath::cli
