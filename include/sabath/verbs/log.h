// One line of metrics that every run record understands (docs/metrics.md). Any thread. Throws Error{usage},
// Error{storage}.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"

namespace sabath {

class Session;

struct LogRequest {
  std::vector<std::string> values;  // "loss=0.12"; epoch, step, rank and time (s since 1970) say where
  std::filesystem::path file;       // the line is appended to it, by one write; empty: it is in the record
};

struct LogRecord {
  std::string line;            // without its end
  std::filesystem::path file;  // empty: the line stands nowhere yet
  int exit = 0;
};

[[nodiscard]] LogRecord log_line(Session& session, const LogRequest& request, EventSink& events,
                                 std::stop_token stop = {});
[[nodiscard]] std::string to_json(const LogRecord& record);

}  // namespace sabath
