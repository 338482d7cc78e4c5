#include "cli/show/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "cli/show/render.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {

constexpr double line_interval_s = 10;
constexpr std::chrono::milliseconds live_interval{100};

void write_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count < 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

ProgressWorld make_world_of_stderr(const Environment& environment) {
  return {[] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); },
          [] { return std::time(nullptr); }, [&environment] { return terminal_width(STDERR_FILENO, environment); },
          write_stderr};
}

Progress::Progress(const Presentation& presentation, ProgressWorld world, Ticks ticks, std::stop_token stop)
    : presentation_(presentation), world_(std::move(world)) {
  if (presentation_.quiet) return;
  stopping_.emplace(std::move(stop), [this] {
    const std::scoped_lock lock(mutex_);
    const std::string at = active_ ? how_far(state_) : "";
    say(
        fmt::format("stopping{}: what is verified is kept, and the same command goes on; a file of a server that gives "
                    "no parts begins "
                    "anew (again to end at once)\n",
                    at));
  });
  if (ticks == Ticks::by_caller) return;
  const auto draw_on = [this](const std::stop_token& end) {
    while (!end.stop_requested()) {
      tick();
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, end, live_interval, [] { return false; });
    }
  };
  try {
    thread_ = std::jthread(draw_on);
  } catch (const std::system_error&) {}  // nothing is drawn where the system grants no thread for it
}

Progress::~Progress() {
  stopping_.reset();
  thread_ = std::jthread();  // asks it to stop, and waits
  const std::scoped_lock lock(mutex_);
  write_cleared("");
}

void Progress::on(const Event& event) {
  const std::scoped_lock lock(mutex_);
  const double now_s = world_.now_s();
  apply(state_, event, now_s);
  if (std::holds_alternative<event::AssetStarted>(event)) {
    active_ = true;
    next_line_s_ = now_s + line_interval_s;
  }
  announce(event);
  if (std::holds_alternative<event::AssetFinished>(event)) {
    active_ = false;
    write_cleared("");
  }
}

void Progress::tick() {
  const std::scoped_lock lock(mutex_);
  if (active_ && !presentation_.quiet) draw(world_.now_s());
}

void Progress::announce(const Event& event) {
  if (const auto* warning = std::get_if<event::Warning>(&event)) {
    say(render_warning(warning->text, presentation_.color));
  } else if (const auto* message = std::get_if<event::Message>(&event); message != nullptr && !presentation_.quiet) {
    say(message->text + "\n");
  } else if (const auto* paused = std::get_if<event::HostPaused>(&event);
             paused != nullptr && !presentation_.live && !presentation_.quiet) {
    say(pause_text(paused->host, paused->seconds) + "\n");
  } else if (const auto* note = std::get_if<event::Note>(&event); note != nullptr && presentation_.verbose) {
    say("note: " + printable(note->text, 4000) + "\n");
  } else if (const auto* failed = std::get_if<event::SourceFailed>(&event);
             failed != nullptr && presentation_.verbose) {
    const auto source = state_.sources.find(failed->source);
    const std::string url = source == state_.sources.end() ? "a source" : source->second.url;
    say(fmt::format("note: {}: {}{}\n", printable(url, 2000), printable(failed->reason, 2000),
                    failed->demoted ? "; avoided from now on" : ""));
  }
}

void Progress::say(const std::string& line) {
  write_cleared(line);
  if (active_ && presentation_.live && !presentation_.quiet) draw(world_.now_s());
}

void Progress::write_cleared(const std::string& text) {
  std::string all;
  if (lines_shown_ > 0) all = fmt::format("\r\x1b[{}A\x1b[J", lines_shown_);
  lines_shown_ = 0;
  all += text;
  if (!all.empty()) world_.write(all);
}

void Progress::draw(double now_s) {
  advance(state_, now_s);
  if (!presentation_.live) {
    if (now_s < next_line_s_) return;
    next_line_s_ = now_s + line_interval_s;
    world_.write(draw_line(state_, world_.wall_clock()) + "\n");
    return;
  }
  const auto lines = draw_block(state_, {world_.width(), presentation_.utf8, presentation_.color});
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  write_cleared(text);  // one write: nothing flickers
  lines_shown_ = lines.size();
}

}  // namespace sabath::cli
