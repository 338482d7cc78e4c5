#include "sabath/verbs/log.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "base/clock.h"
#include "base/file.h"
#include "base/number.h"
#include "base/wording.h"
#include "metrics/json_scan.h"
#include "metrics/record.h"
#include "metrics/words.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

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
                fmt::format("write for example: {} epoch=3 loss=0.12", verb_text("log")));
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
  std::set<std::string> names;
  for (const std::string& text : texts) {
    const Pair pair = parse_pair(text);
    if (!names.insert(pair.name).second)
      throw Error(FailureKind::usage, fmt::format("{} is given twice", printable(pair.name)),
                  "a line has each name once");
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
  return fmt::format(":::SABATH {{\"time\":{:.6f}{},\"values\":{{{}}}}}", time, place, values);
}

}  // namespace

LogRecord log_line(Session&, const LogRequest& request, EventSink&, std::stop_token) {
  LogRecord record;
  record.line = line_of(request.values);
  record.file = request.file;
  if (request.file.empty()) return record;
  // One write(2) in append mode: the lines of several processes do not mix.
  Fd fd = open_file(request.file, O_WRONLY | O_APPEND | O_CREAT);
  const std::string line = record.line + "\n";
  write_all(fd.get(), std::as_bytes(std::span(line)), request.file);
  close_file(std::move(fd), request.file);
  return record;
}

template <>
struct Described<LogRequest> {
  using Of = LogRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(values, .help = "epoch, step, rank and time say where; all else is a value", .required = true,
                   .argument = "NAME=NUMBER"),
      SABATH_FIELD(file, .help = "the line is appended to it; absent: it is in the record", .hidden = true),
  };
};

template <>
struct Described<LogRecord> {
  using Of = LogRecord;
  static bool has_no_file(const void* record) { return static_cast<const LogRecord*>(record)->file.empty(); }
  static constexpr Field table[] = {
      SABATH_FIELD(line, .help = "without its end, where no file was named", .only_if = has_no_file),
      SABATH_FIELD(file, .help = "where the line is now", .null_if_empty = true, .absent_if_empty = true),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const LogRecord& record) { return record_text(record); }

extern constexpr LibraryVerb log_call = described<log_line>("log");

}  // namespace sabath
