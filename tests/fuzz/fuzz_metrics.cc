// The reader of training logs: any output of a program, cut anywhere. The metrics do not depend on the cuts, and are
// read back from a record as they were.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/json_scan.h"
#include "metrics/reader.h"
#include "metrics/record.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

std::vector<std::string> told(std::string_view text, std::size_t piece) {
  std::vector<std::string> lines;
  sabath::MetricReaderOptions options;
  options.patterns = {R"(it (?P<step>\d+) (?P<name>\w+) (?P<value>\S+))"};
  options.line_max = 1000;
  sabath::MetricReader reader(options, [&lines](const sabath::Metric& m) { lines.push_back(sabath::metric_json(m)); });
  for (std::size_t at = 0; at < text.size(); at += piece) reader.feed(text.substr(at, piece), 12.5);
  reader.finish();
  check(reader.counts().bytes == text.size());
  check(reader.counts().metrics == lines.size());
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::vector<std::string> lines = told(text, 1 + text.size());
  check(told(text, 1U + data[0] % 32) == lines);
  for (const std::string& line : lines) {
    const auto metric = sabath::try_metric_json(line);
    check(metric && sabath::metric_json(*metric) == line);
  }
  std::vector<sabath::JsonLeaf> leaves;
  if (const auto length = sabath::scan_json_object(text, leaves)) check(*length <= text.size());
  (void)sabath::try_metric_json(text);
  return 0;
}
