#include "session/rates.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file.h"
#include "sabath/error.h"
#include "sabath/url.h"
#include "store/disk/layout.h"

namespace sabath {
namespace {

constexpr std::uint64_t bytes_min = 1'000'000;  // less says more of a connection's beginning than of a rate
constexpr double seconds_min = 0.01;
constexpr std::size_t samples_max = 20;
constexpr std::size_t files_max = 64;
constexpr std::uint64_t file_size_max = 4ULL << 20, all_size_max = 32ULL << 20;

}  // namespace

std::optional<RateSample> try_parse_rate(std::string_view json_line) {
  const auto json = nlohmann::json::parse(json_line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  try {
    const auto bytes = json.at("fetched_bytes").get<std::uint64_t>();
    const auto seconds = json.at("seconds").get<double>();
    if (bytes < bytes_min || !(seconds > seconds_min) || !json.at("failures").empty()) return std::nullopt;
    RateSample sample{{}, static_cast<double>(bytes) / seconds, json.at("time").get<std::int64_t>()};
    for (const auto& source : json.at("sources")) {
      if (source.at("bytes").get<std::uint64_t>() == 0) continue;
      const auto url = Url::try_parse(source.at("url").get<std::string>());
      if (url) sample.origins.insert(url->origin());
    }
    return sample;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::optional<Rate> rate_of(std::vector<RateSample> samples, const std::set<std::string>& origins) {
  std::erase_if(samples, [&](const RateSample& sample) {
    return std::ranges::none_of(sample.origins, [&](const auto& origin) { return origins.contains(origin); });
  });
  if (samples.empty()) return std::nullopt;
  std::ranges::stable_sort(samples, std::ranges::greater(), &RateSample::time_s);
  if (samples.size() > samples_max) samples.resize(samples_max);
  std::ranges::sort(samples, {}, &RateSample::bytes_per_second);
  return Rate{samples[samples.size() / 2].bytes_per_second, samples.back().bytes_per_second, samples.size()};
}

// Their names begin with the day.
std::vector<RateSample> read_rates(const Store& store) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  const Layout layout(store.directory());
  for (std::filesystem::directory_iterator it(layout.records(), error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".jsonl") files.push_back(it->path());
  }
  const std::size_t count = std::min(files.size(), files_max);
  std::ranges::partial_sort(files, files.begin() + static_cast<std::ptrdiff_t>(count), std::ranges::greater());
  files.resize(count);
  std::vector<RateSample> samples;
  std::uint64_t read = 0;
  for (const auto& file : files) {
    if (read > all_size_max) break;
    std::string text;
    try {
      text = try_read_text(file, file_size_max).value_or("");
    } catch (const Error&) {
      continue;
    }
    read += text.size();
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (auto sample = try_parse_rate(line)) samples.push_back(std::move(*sample));
    }
  }
  return samples;
}

}  // namespace sabath
