#include "run/execution.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>

#include "base/clock.h"
#include "base/text.h"
#include "metrics/reader.h"
#include "run/output_files.h"
#include "run/rank_streams.h"
#include "run/run_trackers.h"
#include "sabath/error.h"

namespace sabath {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

constexpr int tick_ms = 200;
constexpr std::size_t last_lines_max = 30, readers_max = 4096;

class Execution {
 public:
  Execution(RunDirectory& directory, const ExecutionOptions& options, const std::stop_token& stop)
      : directory_(directory),
        options_(options),
        stop_(stop),
        logged_(reader_options(std::nullopt), sink()),
        trackers_(directory.path(), sink()) {
    log_ = open_file(directory.metric_log(), O_RDWR | O_CREAT | O_APPEND);
  }

  ExecutionEnd run(const std::vector<RunStep>& steps) {
    for (const RunStep& step : steps) {
      if (stop_.stop_requested()) end_.stopped = true;
      if (end_.stopped) break;
      run_step(step);
      if (end_.steps.back().end.exit != 0) break;
    }
    trackers_.finish();
    directory_.flush();
    return std::move(end_);
  }

 private:
  [[nodiscard]] MetricReaderOptions reader_options(std::optional<int> rank) const {
    MetricReaderOptions reader;
    reader.rank = rank;
    reader.patterns = options_.patterns;
    return reader;
  }

  MetricReader::Sink sink() {
    return [this](const Metric& metric) {
      ++end_.metrics;
      directory_.add(metric);
      if (options_.on_metric) options_.on_metric(metric);
    };
  }

  void run_step(const RunStep& step) {
    const auto begin = Clock::now();
    GuardedProcess process({step.argv, options_.environment, directory_.work(), options_.companion});
    if (options_.on_start) options_.on_start(process.guardian());
    Stream out(*this, "stdout", step.tagged), err(*this, "stderr", step.tagged);
    std::optional<ProcessEnd> ended;
    std::optional<Clock::time_point> stopped_at;
    bool merciless = false;
    while (!ended || process.out() >= 0 || process.err() >= 0) {
      wait(process, ended.has_value());
      if (process.out() >= 0 && !read(process.out(), out)) process.close_out();
      if (process.err() >= 0 && !read(process.err(), err)) process.close_err();
      if (!ended && readable(process.news())) ended = process.try_end();
      read_log();
      trackers_.tick();
      directory_.flush();
      if (options_.on_tick) options_.on_tick();
      if (stop_.stop_requested() && !stopped_at) {
        stopped_at = Clock::now();
        process.signal(options_.stop_signal ? options_.stop_signal() : SIGTERM);
      } else if (stopped_at && !merciless && Clock::now() - *stopped_at > options_.grace) {
        merciless = true;
        process.end_all();
      }
    }
    finish(out, err);
    if (options_.on_start) options_.on_start(0);
    end_.stopped = end_.stopped || stopped_at.has_value();
    end_.steps.push_back({*ended, seconds_since(begin)});
  }

  // One stream of a step: each rank's output goes to a file and a reader of its own.
  class Stream {
   public:
    Stream(Execution& execution, std::string name, bool tagged)
        : execution_(execution),
          files_(execution.directory_, std::move(name)),
          ranks_(tagged, [this](std::optional<int> rank, std::string_view bytes) { take(rank, bytes); }) {}

    void feed(std::string_view bytes) {
      time_ = unix_seconds();
      ranks_.take(bytes);
    }
    void finish() {
      ranks_.finish();
      files_.finish();
      for (auto& [rank, reader] : readers_) {
        reader.finish();
        execution_.end_.not_understood += reader.counts().not_understood;
      }
    }
    [[nodiscard]] const OutputFiles& files() const { return files_; }

   private:
    void take(std::optional<int> rank, std::string_view bytes) {
      files_.write(rank, bytes);
      auto found = readers_.find(rank);
      if (found == readers_.end()) {
        if (readers_.size() >= readers_max) return;  // a run of very many ranks records the first ones
        found = readers_.try_emplace(rank, execution_.reader_options(rank), execution_.sink()).first;
      }
      found->second.feed(bytes, time_);
    }

    Execution& execution_;
    OutputFiles files_;
    std::map<std::optional<int>, MetricReader> readers_;
    double time_ = 0;
    RankStreams ranks_;
  };

  void wait(const GuardedProcess& process, bool ended) const {
    std::array<pollfd, 3> fds{{{process.out(), POLLIN, 0}, {process.err(), POLLIN, 0}, {-1, POLLIN, 0}}};
    if (!ended) fds[2].fd = process.news();
    ::poll(fds.data(), fds.size(), tick_ms);
  }

  static bool readable(int fd) {
    pollfd one{fd, POLLIN, 0};
    return ::poll(&one, 1, 0) > 0;
  }

  // Reads the bytes that are there; false at the end of the stream.
  bool read(int fd, Stream& stream) {
    if (!readable(fd)) return true;
    const ssize_t n = ::read(fd, buffer_.data(), buffer_.size());
    if (n < 0) return errno == EINTR || errno == EAGAIN;
    if (n == 0) return false;
    const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(n));
    if (end_.first_output_s < 0) end_.first_output_s = seconds_since(begin_);
    stream.feed(bytes);
    if (options_.on_output) options_.on_output(bytes);
    return true;
  }

  // Reads the lines that `sabath log` and other programs have appended.
  void read_log() {
    while (true) {
      const std::size_t n =
          read_at(log_.get(), std::as_writable_bytes(std::span(buffer_)), log_offset_, directory_.metric_log());
      if (n == 0) return;
      log_offset_ += n;
      logged_.feed({buffer_.data(), n}, unix_seconds());
    }
  }

  void finish(Stream& out, Stream& err) {
    read_log();
    for (Stream* stream : {&out, &err}) stream->finish();
    trackers_.read();
    directory_.flush();
    end_.last_lines.clear();
    for (const Stream* stream : {&out, &err}) {
      for (const std::string& line : stream->files().last_lines()) end_.last_lines.push_back(line);
    }
    // The reason stands at the end of standard error, if anything stands there.
    if (end_.last_lines.size() > last_lines_max) {
      end_.last_lines.erase(end_.last_lines.begin(), end_.last_lines.end() - last_lines_max);
    }
  }

  RunDirectory& directory_;
  const ExecutionOptions& options_;
  const std::stop_token stop_;
  const Clock::time_point begin_ = Clock::now();
  ExecutionEnd end_;
  MetricReader logged_;
  RunTrackers trackers_;
  Fd log_;
  std::uint64_t log_offset_ = 0;
  std::vector<char> buffer_ = std::vector<char>(256 * 1024);
};

}  // namespace

ExecutionEnd execute(const std::vector<RunStep>& steps, RunDirectory& directory, const ExecutionOptions& options,
                     const std::stop_token& stop) {
  return Execution(directory, options, stop).run(steps);
}

}  // namespace sabath
