#include "hosts/host_answer.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <variant>

#include "base/threads.h"
#include "sabath/error.h"

namespace sabath {
namespace {

using AnswerClock = std::chrono::steady_clock;
using AnswerJson = nlohmann::ordered_json;

constexpr auto says_that_it_lives_every = std::chrono::seconds(10);
constexpr int poll_ms = 100;
constexpr auto call_within = std::chrono::seconds(60);  // between two parts of it

// Waits for bytes, and reads as much as `most`. "" at the end of the stream.
std::string read_some_of(int in, std::size_t most, const std::stop_token& stop) {
  std::string text(std::min<std::size_t>(most, 1 << 16), '\0');
  const auto until = AnswerClock::now() + call_within;
  while (AnswerClock::now() < until) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped while a call was read");
    pollfd input{in, POLLIN, 0};
    if (::poll(&input, 1, poll_ms) <= 0) continue;
    const ssize_t got = ::read(in, text.data(), text.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
  }
  throw Error(FailureKind::command, fmt::format("no call came within {} s", call_within.count()));
}

CallHead read_head(int in, const std::stop_token& stop) {
  std::string line;
  while (line.size() < call_head_bytes_max) {
    const std::string one = read_some_of(in, 1, stop);
    if (one.empty() || one == "\n") break;
    line += one;
  }
  return parse_call_head(line);
}

}  // namespace

HostAnswer::HostAnswer(int in, int out, std::stop_token stop)
    : in_(in), out_(out), passed_on_(std::move(stop), PassOn{&stopped_}), head_(read_head(in, stopped_.get_token())) {
  const std::string head = "\n" + answer_head(head_.nonce);
  write_line(std::string_view(head).substr(0, head.size() - 1));
  lives_ = start_thread([this](const std::stop_token& over) { say_that_it_lives(over); });
}

HostAnswer::~HostAnswer() = default;

HostCall HostAnswer::read_call() {
  std::string text;
  while (text.size() < head_.bytes) {
    const std::string more = read_some_of(in_, head_.bytes - text.size(), stopped_.get_token());
    if (more.empty()) throw Error(FailureKind::command, "the caller hung up in the middle of its call");
    text += more;
  }
  HostCall call = parse_host_call(text);
  watches_ = start_thread([this](const std::stop_token& over) { watch_caller(over); });
  return call;
}

void HostAnswer::watch_caller(const std::stop_token& over) {
  while (!over.stop_requested()) {
    pollfd input{in_, POLLIN, 0};
    if (::poll(&input, 1, poll_ms) <= 0) continue;
    std::array<char, 256> ignored;
    const ssize_t got = ::read(in_, ignored.data(), ignored.size());
    if (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN))) continue;
    stopped_.request_stop();
    return;
  }
}

void HostAnswer::say_that_it_lives(const std::stop_token& over) {
  auto next = AnswerClock::now() + says_that_it_lives_every;
  while (!over.stop_requested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(poll_ms));
    if (AnswerClock::now() < next) continue;
    write_line(R"({"tick":true})");
    next = AnswerClock::now() + says_that_it_lives_every;
  }
}

void HostAnswer::write_line(std::string_view text) {
  const std::lock_guard lock(writing_);
  const WritesFail fail;
  const std::string line = std::string(text) + "\n";
  for (std::string_view left = line; !left.empty() && !gone_;) {
    const ssize_t wrote = ::write(out_, left.data(), left.size());
    if (wrote > 0) {
      left.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno != EINTR && errno != EAGAIN) {
      gone_ = true;
      stopped_.request_stop();
    }
  }
}

void HostAnswer::on(const Event& event) {
  const auto text_of_json = [](const char* key, const std::string& text) {
    return AnswerJson{{key, text}}.dump(-1, ' ', false, AnswerJson::error_handler_t::replace);
  };
  if (const auto* message = std::get_if<event::Message>(&event)) write_line(text_of_json("message", message->text));
  if (const auto* warning = std::get_if<event::Warning>(&event)) write_line(text_of_json("warning", warning->text));
}

void HostAnswer::submitted(const std::string& record) { write_line(fmt::format(R"({{"submitted":{}}})", record)); }
void HostAnswer::done(const std::string& record) { write_line(fmt::format(R"({{"record":{}}})", record)); }

void HostAnswer::failed(const Failure& failure, int exit) {
  AnswerJson error{{"kind", name(failure.kind)}, {"message", failure.message.empty() ? "no reason" : failure.message}};
  if (!failure.hint.empty()) error["hint"] = failure.hint;
  write_line(AnswerJson{{"error", std::move(error)}, {"exit", exit}}.dump(-1, ' ', false,
                                                                          AnswerJson::error_handler_t::replace));
}

}  // namespace sabath
