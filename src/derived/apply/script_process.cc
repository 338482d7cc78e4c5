#include "apply/script_process.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <deque>

#include "base/pipe.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int tick_ms = 200;
constexpr auto grace = std::chrono::seconds(2);
constexpr std::size_t lines_max = 10, line_bytes_max = 1000;

// The last lines of a stream, however long it and they are.
class Tail {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) {
      if (c == '\n') {
        end_line();
      } else if (line_.size() < line_bytes_max) {
        line_ += c;
      }
    }
  }
  void move_to(std::vector<std::string>& lines) {
    end_line();
    for (const std::string& line : lines_) lines.push_back(printable(line, line_bytes_max));
  }

 private:
  void end_line() {
    if (!line_.empty()) lines_.push_back(std::move(line_));
    line_.clear();
    if (lines_.size() > lines_max) lines_.pop_front();
  }
  std::deque<std::string> lines_;
  std::string line_;
};

class ScriptRun {
 public:
  ScriptRun(const ScriptSpec& spec, const std::stop_token& stop)
      : spec_(spec),
        stop_(stop),
        process_({spec.argv, spec.environment, spec.directory, spec.companion, spec.memory_bytes, spec.no_network}) {}

  ScriptEnd run() {
    while (!ended_ || process_.out() >= 0 || process_.err() >= 0) {
      std::array<pollfd, 3> fds{{{process_.out(), POLLIN, 0}, {process_.err(), POLLIN, 0}, {-1, POLLIN, 0}}};
      if (!ended_) fds[2].fd = process_.news();
      ::poll(fds.data(), fds.size(), tick_ms);
      if (fds[0].revents != 0 && !read_into(out_, process_.out())) process_.close_out();
      if (fds[1].revents != 0 && !read_into(err_, process_.err())) process_.close_err();
      if (fds[2].revents != 0) ended_ = process_.try_end();
      keep_bounds();
    }
    if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "the script was stopped");
    ScriptEnd end{ended_->exit, ended_->signal, timed_out_, process_.isolation(), {}};
    out_.move_to(end.last_lines);
    err_.move_to(end.last_lines);
    if (end.last_lines.size() > lines_max)
      end.last_lines.erase(end.last_lines.begin(), end.last_lines.end() - static_cast<std::ptrdiff_t>(lines_max));
    return end;
  }

 private:
  static bool read_into(Tail& tail, int fd) {
    return read_waiting(fd, [&](std::string_view bytes) { tail.add(bytes); });
  }

  void keep_bounds() {
    const auto now = Clock::now();
    if (!ending_since_ && spec_.time.count() > 0 && now - begin_ > spec_.time) {
      timed_out_ = true;
      end_it(now);
    }
    if (!ending_since_ && stop_.stop_requested()) end_it(now);
    if (ending_since_ && !merciless_ && now - *ending_since_ > grace) {
      merciless_ = true;
      process_.end_all();
    }
  }
  void end_it(Clock::time_point now) {
    ending_since_ = now;
    process_.signal(SIGTERM);
  }

  const ScriptSpec& spec_;
  const std::stop_token& stop_;
  GuardedProcess process_;
  const Clock::time_point begin_ = Clock::now();
  std::optional<ProcessEnd> ended_;
  std::optional<Clock::time_point> ending_since_;
  bool timed_out_ = false, merciless_ = false;
  Tail out_, err_;
};

}  // namespace

ScriptEnd run_script(const ScriptSpec& spec, const std::stop_token& stop) { return ScriptRun(spec, stop).run(); }

}  // namespace sabath
