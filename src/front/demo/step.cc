#include "demo/step.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <optional>

#include "base/json_reader.h"
#include "base/pipe.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::demo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int tick_ms = 200;
constexpr std::size_t kept_bytes_max = 1 << 20;
constexpr auto grace = std::chrono::seconds(5), start_max = std::chrono::seconds(60);

// What a process prints, and its end, as both come.
class Watch {
 public:
  Watch(GuardedProcess& process, const std::stop_token& stop) : process_(process), stop_(stop) {}

  // Looks once, for at most a tick. False when the process has ended and all that it printed was read.
  bool look(const OnText& on_out, const OnText& on_error) {
    if (end_ && process_.out() < 0 && process_.err() < 0) return false;
    std::array<pollfd, 3> fds{
        {{process_.out(), POLLIN, 0}, {process_.err(), POLLIN, 0}, {end_ ? -1 : process_.news(), POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), tick_ms);
    if (fds[0].revents != 0 && !read_waiting(process_.out(), on_out)) process_.close_out();
    if (fds[1].revents != 0 && !read_waiting(process_.err(), on_error)) process_.close_err();
    if (fds[2].revents != 0) end_ = process_.try_end();
    end_if_asked();
    return true;
  }
  [[nodiscard]] bool stopped() const { return stopped_at_.has_value(); }
  [[nodiscard]] int exit() const { return end_->exit; }

 private:
  void end_if_asked() {
    if (!stop_.stop_requested()) return;
    if (!stopped_at_) {
      stopped_at_ = Clock::now();
      process_.signal(SIGTERM);
    } else if (Clock::now() - *stopped_at_ > grace) {
      process_.end_all();
    }
  }

  GuardedProcess& process_;
  const std::stop_token& stop_;
  std::optional<ProcessEnd> end_;
  std::optional<Clock::time_point> stopped_at_;
};

std::unique_ptr<GuardedProcess> started(const std::vector<std::string>& argv, const Surroundings& surroundings) {
  return std::make_unique<GuardedProcess>(
      ProcessSpec{argv, surroundings.environment, surroundings.directory, surroundings.program});
}

OnText keep_in(std::string& text) {
  return [&text](std::string_view more) { text += more.substr(0, kept_bytes_max - text.size()); };
}

[[noreturn]] void throw_stopped() { throw Error(FailureKind::interrupted, "the demonstration was stopped"); }

}  // namespace

std::uint64_t number_in(const std::string& record, const std::vector<std::string_view>& keys) {
  const JsonValue tree = parse_json(record, "the record of a command");
  const JsonValue* value = &tree;
  for (const std::string_view key : keys) {
    if (const auto* list = value->get<JsonValue::Array>(); list != nullptr && !list->empty()) value = &list->front();
    value = &JsonObject(*value, "the record of a command", "it").require(key);
  }
  const auto* number = value->get<std::uint64_t>();
  return number == nullptr ? 0 : *number;
}

StepResult run_step(const std::vector<std::string>& argv, const Surroundings& surroundings, const OnText& on_error) {
  if (surroundings.stop.stop_requested()) throw_stopped();
  const auto process = started(argv, surroundings);
  Watch watch(*process, surroundings.stop);
  StepResult result;
  while (watch.look(keep_in(result.out), on_error)) {}
  if (watch.stopped()) throw_stopped();
  result.exit = watch.exit();
  return result;
}

Origin::Origin(const std::filesystem::path& store, const Surroundings& surroundings)
    : stop_(surroundings.stop),
      process_(started({surroundings.program, "serve", "--store", store, "--listen", "127.0.0.1:0", "--json"},
                       surroundings)) {
  Watch watch(*process_, stop_);
  std::string said;
  const auto deadline = Clock::now() + start_max;
  while (watch.look([](std::string_view) {}, keep_in(said))) {
    // serving STORE as sabath://127.0.0.1:PORT (...)
    const auto begin = said.find(" as sabath://"), end = said.find(" (", begin);
    if (begin != std::string::npos && end != std::string::npos) {
      url_ = said.substr(begin + 4, end - begin - 4);
      return;
    }
    if (Clock::now() > deadline) process_->end_all();
  }
  if (watch.stopped()) throw_stopped();
  throw Error(FailureKind::command, fmt::format("sabath serve does not listen: {}", printable(said, 2000)),
              "sabath doctor says whether this machine is ready");
}

std::uint64_t Origin::stop() {
  process_->signal(SIGTERM);
  std::string out;
  Watch watch(*process_, stop_);
  while (watch.look(keep_in(out), [](std::string_view) {})) {}
  if (watch.stopped()) throw_stopped();
  return number_in(out, {"bytes"});
}

}  // namespace sabath::demo
