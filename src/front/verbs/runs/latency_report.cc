#include "verbs/runs/latency_report.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/wording.h"
#include "report/latency_table.h"
#include "sabath/asset_file.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/runs/report_output.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t latency_sources_max = 1000;
constexpr const char* latency_name = "latency.json";

std::string text_of_file(const fs::path& file) {
  const auto text = try_read_text(file, latency_bytes_max);
  if (text) return *text;
  throw Error(FailureKind::not_found, fmt::format("there is no file {}", printable(file.native(), 4096)));
}

std::string text_of_asset(Session& session, const std::string& name) {
  const OpenAsset asset(session, name);
  for (const PlacedFile& file : asset.files()) {
    if (file.path != latency_name) continue;
    const AssetFile open(asset, file.path);
    if (open.size_bytes() > latency_bytes_max)
      throw Error(FailureKind::invalid, fmt::format("{} of {} is too large", latency_name, printable(name)));
    std::string text(open.size_bytes(), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
      const std::size_t came = open.read(done, std::as_writable_bytes(std::span(text)).subspan(done));
      if (came == 0) throw Error(FailureKind::content, fmt::format("{} of {} is cut off", latency_name, name));
      done += came;
    }
    return text;
  }
  throw Error(FailureKind::not_found, fmt::format("{} has no {}", printable(name), latency_name),
              fmt::format("an asset that `{}` made has one", verb_text("convert")));
}

LatencySource latency_source(Session& session, const std::string& name) {
  const auto status = try_stat(name);
  const bool is_directory = status && S_ISDIR(status->st_mode);
  const bool is_path = status || name.find('/') != name.npos || name.ends_with(".json");
  const std::string text = is_directory ? text_of_file(fs::path(name) / latency_name)
                           : is_path    ? text_of_file(name)
                                        : text_of_asset(session, name);
  const std::string of = is_path && !is_directory ? name : (fs::path(name) / latency_name).native();
  return {name, parse_latency(text, printable(of, 4096))};
}

void refuse_options_of_runs(const ReportRequest& request) {
  const auto refuse = [](bool given, std::string_view option) {
    if (given)
      throw Error(FailureKind::usage,
                  fmt::format("{} is of runs, and {} latency shows models", option, option_text("format")));
  };
  refuse(!request.metrics.empty(), option_text("metric"));
  refuse(!request.patterns.empty(), option_text("pattern"));
  refuse(!request.expectations.empty(), option_text("expect"));
  refuse(!request.fields.empty(), option_text("set"));
  refuse(!request.fields_file.empty(), option_text("set_from"));
  if (request.runs.size() > latency_sources_max)
    throw Error(FailureKind::usage, fmt::format("at most {} are reported at once", latency_sources_max));
}

}  // namespace

ReportRecord report_latencies(Session& session, const ReportRequest& request, EventSink& events) {
  refuse_options_of_runs(request);
  std::vector<LatencySource> sources;
  for (const std::string& name : request.runs) sources.push_back(latency_source(session, name));
  const LatencyTable table(sources);
  ReportRecord record;
  record.latency = table.json().dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  record.output = request.file;
  if (!request.write && request.file.empty()) return record;
  ReportOutput output(request.file, request.write, events);
  const std::string ending = request.file.extension().string();
  output.write(ending == ".csv" ? table.csv()
               : ending == ".json"
                   ? table.json().dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"
               : ending == ".md" ? table.markdown()
                                 : table.text());
  output.publish();
  if (!request.file.empty()) {
    for (const std::string& line : table.slower()) output.say(line);
  }
  return record;
}

}  // namespace sabath
