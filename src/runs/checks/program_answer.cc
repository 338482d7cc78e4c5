#include "checks/program_answer.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "base/pipe.h"
#include "base/text.h"
#include "run/guarded_process.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using AskClock = std::chrono::steady_clock;

constexpr std::chrono::seconds after_term{2};   // a launcher needs them to end its ranks on other nodes
constexpr std::chrono::seconds after_kill{10};  // what the kernel does not end by then is left to the guardian
constexpr int ask_poll_ms = 50;

bool has_bytes(int fd) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, 0) > 0;
}

class Asking {
 public:
  Asking(const CheckAsked& asked, const std::stop_token& stop)
      : asked_(asked),
        stop_(stop),
        process_({asked.argv, lines(asked.environment), asked.directory, asked.companion}) {}

  CheckAnswer run() {
    while (!ended_ || process_.out() >= 0 || process_.err() >= 0) {
      std::array<pollfd, 3> fds{{{process_.out(), POLLIN, 0}, {process_.err(), POLLIN, 0}, {-1, POLLIN, 0}}};
      if (!ended_) fds[2].fd = process_.news();
      ::poll(fds.data(), fds.size(), ask_poll_ms);
      if (process_.out() >= 0 && has_bytes(process_.out()) &&
          !read_waiting(process_.out(), answer_.out, asked_.keep + 1))
        process_.close_out();
      if (process_.err() >= 0 && has_bytes(process_.err()) &&
          !read_waiting(process_.err(), answer_.err, asked_.keep + 1))
        process_.close_err();
      if (!ended_ && has_bytes(process_.news())) ended_ = process_.try_end();
      if (stop_.stop_requested())
        throw Error(FailureKind::interrupted, fmt::format("stopped while `{}` was asked", asked_.argv.front()));
      if (!keep_time()) break;
    }
    if (ended_) answer_.exit = ended_->exit, answer_.signal = ended_->signal;
    for (std::string* text : {&answer_.out, &answer_.err}) leave_out_cut_line(*text);
    return std::move(answer_);
  }

 private:
  // Half a line could meet what the whole one does not.
  void leave_out_cut_line(std::string& text) {
    if (text.size() <= asked_.keep) return;
    answer_.cut = true;
    text.resize(text.find_last_of('\n') == text.npos ? 0 : text.find_last_of('\n') + 1);
  }

  // False: it is left alone.
  bool keep_time() {
    const auto passed = AskClock::now() - begin_;
    if (passed < asked_.patience) return true;
    if (!answer_.late) {
      // It has ended, and what it left holds its streams: what it said counts.
      if (ended_) return false;
      process_.signal(SIGTERM);
    }
    answer_.late = true;
    if (passed > asked_.patience + after_term && !killed_) {
      process_.end_all();
      killed_ = true;
    }
    return passed < asked_.patience + after_term + after_kill && !(ended_ && killed_);
  }

  const CheckAsked& asked_;
  const std::stop_token& stop_;
  const AskClock::time_point begin_ = AskClock::now();
  GuardedProcess process_;
  CheckAnswer answer_;
  std::optional<ProcessEnd> ended_;
  bool killed_ = false;
};

std::string last_line_of(const CheckAnswer& answer) {
  std::string last;
  const auto keep = [&](std::string_view line) {
    if (!trim(line).empty()) last = trim(line);
  };
  for_each_line(answer.err, keep);
  if (last.empty()) for_each_line(answer.out, keep);
  return printable(last, 200);
}

}  // namespace

CheckAnswer ask_program(const CheckAsked& asked, const std::stop_token& stop) {
  try {
    return Asking(asked, stop).run();
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::command) throw;
    CheckAnswer answer;
    answer.not_started = error.failure().message;
    return answer;
  }
}

std::string trouble_of(const CheckAnswer& answer, const CheckAsked& asked) {
  if (!answer.not_started.empty()) return printable(answer.not_started, 300);
  if (answer.late)
    return fmt::format("it did not end within {} s", std::chrono::duration<double>(asked.patience).count());
  const std::string last = last_line_of(answer);
  const std::string said = last.empty() ? "" : ": " + last;
  if (answer.signal != 0) return fmt::format("signal {} ended it{}", answer.signal, said);
  return answer.exit == 0 ? "" : fmt::format("exit status {}{}", answer.exit, said);
}

}  // namespace sabath
