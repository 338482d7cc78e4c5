// Files of experiment trackers: event files, W&B's, MLflow's lines and sqlite databases, cut anywhere. The metrics do
// not depend on the cuts. Of a framed file the fuzzer does not have to guess checksums: one kind of input is an event
// without its frame.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "formats/crc32c.h"
#include "formats/protobuf.h"
#include "metrics/record.h"
#include "sabath/error.h"
#include "trackers/mlflow_database.h"
#include "trackers/sqlite_file.h"
#include "trackers/tracker_reader.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

std::vector<std::string> told(std::string_view text, std::size_t piece, std::uint8_t kind) {
  std::vector<std::string> lines;
  const auto sink = [&lines](const sabath::Metric& metric) { lines.push_back(sabath::metric_json(metric)); };
  const auto reader = kind == 0   ? sabath::make_event_file_reader(sink)
                      : kind == 1 ? sabath::make_wandb_reader(sink)
                                  : sabath::make_mlflow_metric_reader("loss", sink);
  for (std::size_t at = 0; at < text.size(); at += piece) reader->feed(text.substr(at, piece));
  reader->finish();
  check(reader->counts().metrics == lines.size());
  return lines;
}

std::string framed(std::string_view data) {
  std::string text;
  sabath::append_little_endian(text, data.size(), 8);
  sabath::append_little_endian(text, sabath::mask_crc(sabath::crc32c(text)), 4);
  text += data;
  sabath::append_little_endian(text, sabath::mask_crc(sabath::crc32c(data)), 4);
  return text;
}

void read_database(std::string_view text) {
  const std::string path = "/tmp/fuzz_trackers." + std::to_string(::getpid()) + ".db";
  std::ofstream(path, std::ios::binary) << text;
  try {
    for (const std::string& id : sabath::mlflow_run_ids(path)) {
      sabath::MlflowDatabaseReader(path, id, [](const sabath::Metric&) {}).read();
    }
  } catch (const sabath::Error&) {}  // refused, with words
  ::unlink(path.c_str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 2), size - 2);
  const std::uint8_t kind = data[0] % 5;
  if (kind == 4) {
    read_database(text);
    return 0;
  }
  const std::string whole = kind == 3 ? framed(text) : std::string(text);
  const std::uint8_t reader = kind == 3 ? 0 : kind;
  check(told(whole, 1 + whole.size(), reader) == told(whole, 1U + data[1] % 64, reader));
  return 0;
}
