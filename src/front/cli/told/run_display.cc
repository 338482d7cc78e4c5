#include "cli/told/run_display.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <span>

#include "base/counted.h"
#include "base/text.h"
#include "cli/show/render.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {

void print_stderr(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

// What is wrong with the machine, and not with the program.
std::string hint_for(const std::vector<std::string>& last_lines) {
  for (const std::string& line : last_lines) {
    if (line.starts_with("ModuleNotFoundError:"))
      return "SABATH_PYTHON names a Python that has the module (docs/running.md, Requirements)";
    if (line.find("not enough slots") != line.npos)
      return "the launcher has fewer slots than ranks were asked for: say fewer by --ranks";
  }
  return {};
}

}  // namespace

RunDisplay::~RunDisplay() {
  if (board_) board_->finish();
}

void RunDisplay::on(const Event& event) {
  const std::scoped_lock lock(mutex_);
  if (show_run(event)) return;
  const auto* warning = std::get_if<event::Warning>(&event);
  const auto* message = std::get_if<event::Message>(&event);
  if (progress_ == nullptr && warning != nullptr) return context_.warn(warning->text);
  if (progress_ == nullptr && message != nullptr) return context_.say(message->text);
  if (progress_ == nullptr) progress_ = context_.make_progress();
  progress_->on(event);
  if (std::holds_alternative<event::AssetFinished>(event)) progress_.reset();
}

bool RunDisplay::show_run(const Event& event) {
  if (const auto* started = std::get_if<event::RunStarted>(&event)) {
    start(*started);
  } else if (const auto* read = std::get_if<event::MetricRead>(&event)) {
    if (board_) board_->on(read->metric);
  } else if (std::holds_alternative<event::RunTick>(event)) {
    if (board_) board_->tick();
  } else if (const auto* output = std::get_if<event::OutputRead>(&event)) {
    if (!context_.presentation.verbose) return true;
    if (board_) board_->clear();
    print_stderr(output->bytes);
  } else if (const auto* ended = std::get_if<event::RunEnded>(&event)) {
    end(*ended);
  } else {
    return false;
  }
  return true;
}

void RunDisplay::start(const event::RunStarted& started) {
  progress_.reset();
  const Presentation& shown = context_.presentation;
  board_.emplace(
      BoardStyle{shown.live, shown.utf8, shown.quiet, started.epochs},
      [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); },
      [this] { return terminal_width(STDERR_FILENO, context_.environment); }, print_stderr);
  context_.say(fmt::format("running {} in {}", started.model, started.directory));
}

void RunDisplay::end(const event::RunEnded& ended) {
  board_->finish();
  const std::uint64_t epochs = board_->epochs();
  board_.reset();
  const std::string took = format_duration(ended.seconds);
  const std::string output = (std::filesystem::path(ended.directory) / "output").string();
  if (ended.not_understood > 0) {
    const bool one = ended.not_understood == 1;
    context_.warn(
        fmt::format("{} line{} like metrics and {} not understood; a pattern in the recipe's \"metrics\" reads them, "
                    "and `sabath report FILE` in {} shows the first one",
                    ended.not_understood, one ? " looks" : "s look", one ? "is" : "are", output));
  }
  if (ended.unwritten_lines > 0) {
    context_.warn(
        fmt::format("{} of the run could not be written ({}): free space there, and name a place with "
                    "more by --run-dir next time",
                    counted(ended.unwritten_lines, "line"), ended.unwritten_why));
  }
  if (ended.stopped) {
    context_.say(fmt::format("stopped after {}; the record has {}", took, counted(epochs, "epoch")));
  } else if (ended.exit.value_or(0) == 0) {
    context_.say(
        fmt::format("{}: {}, {} in {}", ended.model, counted(epochs, "epoch"), counted(ended.metrics, "value"), took));
  } else {
    const std::string how =
        ended.signal ? fmt::format("was ended by signal {}", *ended.signal) : fmt::format("ended with {}", *ended.exit);
    constexpr std::size_t lines_shown = 10;
    const std::size_t shown = std::min(lines_shown, ended.last_lines.size());
    for (const std::string& line : std::span(ended.last_lines).last(shown)) context_.say("  | " + line);
    std::string hint = hint_for(ended.last_lines);
    hint += fmt::format("{}all that it said is in {}", hint.empty() ? "" : "; ", output);
    print_stderr(render_failure({FailureKind::command, fmt::format("`{}` {}", printable(ended.program, 400), how),
                                 std::move(hint), std::nullopt},
                                context_.presentation.verbose, context_.presentation.color));
  }
}

}  // namespace sabath::cli
