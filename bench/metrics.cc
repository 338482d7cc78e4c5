// How many bytes of log does the metric reader read in a second on one core, for each kind of log? And what memory do
// 1 GB of it take, with lines of every length?
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <string>

#include "metrics/reader.h"

namespace sabath {
namespace {

constexpr std::size_t block_size = 8 << 20, piece_size = 64 << 10;

double peak_rss_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

std::string mlperf_line(std::size_t i) {
  return fmt::format(
      ":::MLLOG {{\"namespace\": \"\", \"time_ms\": {}, \"event_type\": \"POINT_IN_TIME\", \"key\": \"eval_error\", "
      "\"value\": "
      "0.{}, \"metadata\": {{\"file\": \"/home/someone/benchmark/utils/callbacks.py\", \"lineno\": 36, \"epoch_num\": "
      "{}}}}}\n",
      1603357851269 + i, i + 1000, i);
}
std::string keras_line(std::size_t i) {
  return fmt::format(
      "Epoch {}/99\n478/478 [==============================] - 46s 28ms/step - loss: 0.{} - mean_absolute_error: 0.{} "
      "- "
      "val_loss: 7.9952e-07 - val_mean_absolute_error: 5.7262e-04\n",
      i, i + 1000, i + 2000);
}
std::string bar_line(std::size_t i) {
  return fmt::format("Epoch {}:  {}%|████      | {}/100 [00:03<00:00,  9.82it/s, loss=0.{}, v_num=33632]\r", i / 100,
                     i % 100, i % 100, i + 1000);
}
std::string print_line(std::size_t i) {
  return fmt::format("[1,{}]<stdout>:Epoch: {} | FT  | Train Loss: 0.{} | Val Loss: 0.66021\n", i % 64, i, i + 1000);
}
std::string other_line(std::size_t i) {
  return fmt::format(
      "2020-09-26 03:13:12,345 some.module: worker {} read 128 samples from file number {}, all is well\n", i, i);
}
std::string mixed_line(std::size_t i) {
  constexpr std::string (*lines[])(std::size_t) = {mlperf_line, keras_line, bar_line,
                                                   print_line,  other_line, other_line};
  return lines[i % 6](i);
}

std::string block_of(std::string (*line)(std::size_t)) {
  std::string block;
  for (std::size_t i = 0; block.size() < block_size; ++i) block += line(i);
  return block;
}

void feed(MetricReader& reader, std::string_view block) {
  for (std::size_t at = 0; at < block.size(); at += piece_size) reader.feed(block.substr(at, piece_size), 0);
}

void read(benchmark::State& state, std::string (*line)(std::size_t), std::vector<std::string> patterns) {
  const std::string block = block_of(line);
  double sum = 0;
  MetricReaderOptions options;
  options.patterns = std::move(patterns);
  MetricReader reader(options, [&sum](const Metric& metric) { sum += metric.value; });
  for (auto _ : state) feed(reader, block);
  benchmark::DoNotOptimize(sum);
  state.SetBytesProcessed(static_cast<std::int64_t>(reader.counts().bytes));
  state.counters["metrics/s"] =
      benchmark::Counter(static_cast<double>(reader.counts().metrics), benchmark::Counter::kIsRate);
}

// 1 GB: lines of all kinds, one line of 100 MB, a bar of 100 MB, and every rank there is.
void memory(benchmark::State& state) {
  const std::string block = block_of(mixed_line);
  const std::string endless(block_size, 'x');
  const double before = peak_rss_mib();
  for (auto _ : state) {
    double sum = 0;
    MetricReader reader({}, [&sum](const Metric& metric) { sum += metric.value; });
    const auto round = [&](std::string_view text) {
      const std::uint64_t end = reader.counts().bytes + 100'000'000;
      while (reader.counts().bytes < end) feed(reader, text);
    };
    for (int i = 0; i < 7; ++i) round(block);
    round(endless);
    round(block_of(bar_line));
    for (std::size_t rank = 0; reader.counts().bytes < 1'000'000'000; ++rank)
      reader.feed(fmt::format("{}: Epoch 1, loss: 0.5\r{}: epoch,loss\n", rank, rank), 0);
    reader.finish();
    benchmark::DoNotOptimize(sum);
    state.counters["GB"] = static_cast<double>(reader.counts().bytes) / 1e9;
    state.counters["lines_too_long"] = static_cast<double>(reader.counts().lines_too_long);
  }
  state.counters["MiB_more"] = peak_rss_mib() - before;
}

const std::string pattern = R"(worker (?P<step>\d+) loss (?P<loss>\S+))";
BENCHMARK_CAPTURE(read, mlperf, mlperf_line, {})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, keras, keras_line, {})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, bars, bar_line, {})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, prints, print_line, {})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, no_metrics, other_line, {})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, mixed, mixed_line, {})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, mixed_and_a_pattern, mixed_line, {pattern})->Unit(benchmark::kMillisecond);
BENCHMARK(memory)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sabath
