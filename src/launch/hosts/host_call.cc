#include "hosts/host_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "base/wording.h"
#include "hosts/ssh_process.h"
#include "hosts/ssh_verdict.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using CallClock = std::chrono::steady_clock;

constexpr auto look_again = std::chrono::milliseconds(100);
constexpr auto login_max = std::chrono::seconds(120);    // where no user types a password
constexpr auto silence_max = std::chrono::seconds(90);   // the other side says something every ten seconds
constexpr auto stopping_max = std::chrono::seconds(30);  // it finishes what it is submitting
constexpr std::size_t before_answer_max = 1 << 20, answer_bytes_max = 256 << 20, line_bytes_max = 32 << 20;
constexpr std::size_t complaint_bytes_max = 64 << 10, complaint_shown_max = 500, complaints_told_max = 100,
                      messages_max = 2000;

// The last of these whole lines, and no more than `most`.
std::string_view last_lines(std::string_view text, std::size_t most) {
  std::size_t begin = text.size();
  for (std::size_t lines = 0; begin > 0 && lines < most; ++lines) {
    const auto before = begin > 1 ? text.rfind('\n', begin - 2) : text.npos;
    begin = before == text.npos ? 0 : before + 1;
  }
  return text.substr(begin);
}

class Conversation {
 public:
  Conversation(const HostLogin& login, const HostCall& call, const Environment& environment, EventSink& events,
               const std::stop_token& stop)
      : login_(login),
        subject_(call.subject),
        events_(events),
        stop_(stop),
        nonce_(new_nonce()),
        text_(text_of(call, nonce_)),
        ssh_(login, environment) {}

  JobRecord hold() {
    std::string_view to_send = text_;
    heard_at_ = CallClock::now();
    for (bool open = true; open && !answer_;) {
      const std::size_t before = out_.size() + errors_.size();
      open = ssh_.move(to_send, out_, errors_, look_again);
      if (out_.size() + errors_.size() > before) heard_at_ = CallClock::now();
      read_answer();
      read_complaints();
      stop_or_lose_patience(to_send);
    }
    if (!answer_) fail();
    ssh_.hang_up();
    static_cast<void>(ssh_.end());
    if (answer_->what == AnswerLine::What::record) return std::move(answer_->record);
    Failure& failure = answer_->failure;
    if (failure.kind == FailureKind::interrupted) failure.hint = later();
    throw Error(failure.kind, fmt::format("{}: {}", login_.host, failure.message), failure.hint);
  }

 private:
  void read_answer() {
    if (!begun_) {
      const std::string mark = answer_mark(nonce_);
      const auto at = out_.find(mark);
      const auto end = at == out_.npos ? out_.npos : out_.find('\n', at);
      if (end == out_.npos) {
        if (out_.size() > before_answer_max)
          throw Error(why_no_answer(login_, {0, {}, out_.substr(0, before_answer_max)}));
        return;
      }
      begun_ = true;
      out_.erase(0, end + 1);
      errors_.clear();  // a banner
    }
    std::size_t begin = 0;
    for (std::size_t end = 0; !answer_ && (end = out_.find('\n', begin)) != out_.npos; begin = end + 1)
      take(std::string_view(out_).substr(begin, end - begin));
    read_bytes_ += begin;
    out_.erase(0, begin);
    if (out_.size() > line_bytes_max || read_bytes_ > answer_bytes_max)
      throw Error(FailureKind::command, fmt::format("{} says more than an answer may have", login_.host),
                  "install the same version of SABATH on both machines");
  }

  void take(std::string_view line) {
    AnswerLine said;
    try {
      said = parse_answer_line(line);
    } catch (const Error& error) {
      throw Error(error.failure().kind, fmt::format("{}: {}", login_.host, error.failure().message),
                  error.failure().hint);
    }
    const bool speaks = said.what == AnswerLine::What::message || said.what == AnswerLine::What::warning;
    if (speaks && ++messages_ > messages_max) return;
    switch (said.what) {
      case AnswerLine::What::tick:
        return;
      case AnswerLine::What::message:
        return events_.on(event::Message{fmt::format("{}: {}", login_.host, said.text)});
      case AnswerLine::What::warning:
        return events_.on(event::Warning{fmt::format("{}: {}", login_.host, said.text)});
      case AnswerLine::What::submitted:
        submitted_ = std::move(said.record);
        return;
      default:
        answer_ = std::move(said);
    }
  }

  // Before an answer they may be a banner, or say why there is none.
  void read_complaints() {
    const std::size_t whole = errors_.rfind('\n') == errors_.npos ? 0 : errors_.rfind('\n') + 1;
    std::string_view lines = last_lines(std::string_view(errors_).substr(0, whole), complaints_told_max);
    for (std::size_t end = 0; (end = lines.find('\n')) != lines.npos; lines.remove_prefix(end + 1)) {
      const std::string_view line = trim(lines.substr(0, end));
      if (!line.empty()) complain(printable(line, complaint_shown_max));
    }
    complained_bytes_ += whole;
    errors_.erase(0, whole);
    if (complained_bytes_ > answer_bytes_max)
      throw Error(FailureKind::command, fmt::format("{} complains without an end", login_.host),
                  "see what its startup files and ssh print to standard error");
    if (errors_.size() > complaint_bytes_max) errors_.clear();
  }

  void complain(std::string line) {
    if (begun_ && ++told_ <= complaints_told_max) events_.on(event::Warning{fmt::format("{}: {}", login_.host, line)});
    complaints_.push_back(std::move(line));
    if (complaints_.size() > complaints_told_max) complaints_.erase(complaints_.begin());
  }

  void stop_or_lose_patience(std::string_view& to_send) {
    const auto now = CallClock::now();
    if (stop_.stop_requested() && !stopped_at_) {
      stopped_at_ = now;
      to_send = {};
      ssh_.hang_up();  // the other side's stop request
    }
    if (stopped_at_ && (!begun_ || now - *stopped_at_ > stopping_max)) fail();
    if (begun_ && now - heard_at_ > silence_max) {
      throw Error(FailureKind::network, fmt::format("{} has said nothing for {} s", login_.host, silence_max.count()),
                  later());
    }
    if (!begun_ && !login_.at_terminal && now - heard_at_ > login_max) {
      throw Error(FailureKind::network,
                  fmt::format("{} has not answered within {} s", login_.host, std::chrono::seconds(login_max).count()),
                  fmt::format("make `ssh -oBatchMode=yes {} true` work", login_.host));
    }
  }

  // How to learn later what became of it.
  [[nodiscard]] std::string later() const {
    const std::string job = submitted_ ? submitted_->directory.native() : subject_;
    return fmt::format("`{} {} {} {} {}` tells what became of it, and {} waits for it", verb_text("job"),
                       shell_word(job), option_text("host"), login_.host, option_text("status"), option_text("wait"));
  }

  [[noreturn]] void fail() {
    const int status = ssh_.end();
    std::string_view nothing;
    while (ssh_.move(nothing, out_, errors_, look_again) && out_.size() + errors_.size() < before_answer_max) {}
    errors_ += '\n';
    read_complaints();
    if (stopped_at_ || stop_.stop_requested()) {
      throw Error(FailureKind::interrupted,
                  begun_ ? fmt::format("nothing waits for the answer of {} any more", login_.host)
                         : fmt::format("stopped before {} answered", login_.host),
                  begun_ ? later() : "");
    }
    const SshEnd end{status, complaints_, out_};
    throw Error(begun_ ? why_broken_off(login_, end, later()) : why_no_answer(login_, end));
  }

  const HostLogin& login_;
  const std::string subject_;
  EventSink& events_;
  const std::stop_token& stop_;
  const std::string nonce_, text_;
  SshProcess ssh_;
  std::string out_, errors_;
  std::vector<std::string> complaints_;
  std::size_t told_ = 0, messages_ = 0, read_bytes_ = 0, complained_bytes_ = 0;
  bool begun_ = false;
  std::optional<AnswerLine> answer_;
  std::optional<JobRecord> submitted_;
  std::optional<CallClock::time_point> stopped_at_;
  CallClock::time_point heard_at_;
};

}  // namespace

JobRecord call_host(const HostLogin& login, const HostCall& call, const Environment& environment, EventSink& events,
                    const std::stop_token& stop) {
  refuse_odd_login(login);
  return Conversation(login, call, environment, events, stop).hold();
}

}  // namespace sabath
