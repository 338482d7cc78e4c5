#include "cli/show/progress_state.h"

#include <algorithm>
#include <cmath>

namespace sabath::cli {
namespace {

constexpr double time_constant_s = 3;
constexpr std::size_t pauses_max = 64;
constexpr std::size_t sources_max = 4096;  // an asset of a million listed URLs still has few that are worth a line

SourceProgress* source_of(ProgressState& state, std::uint32_t number) {
  if (state.sources.size() >= sources_max && !state.sources.contains(number)) return nullptr;
  return &state.sources[number];
}

struct Apply {
  ProgressState& state;
  double now_s;

  void operator()(const event::AssetStarted& started) const {
    state = ProgressState{};
    state.name = started.name;
    state.bytes_total = started.bytes_total;
    state.files_total = started.files_total;
    state.started_s = state.now_s = now_s;
    state.meter.advance(now_s, 0);
  }
  void operator()(const event::TotalKnown& total) const {
    state.bytes_total = total.bytes_total;
    state.files_total = total.files_total;
  }
  void operator()(const event::SizeLearnt&) const {}  // the total follows, once all sizes are known
  void operator()(const event::BytesReceived& received) const {
    state.received += received.bytes;
    if (SourceProgress* source = source_of(state, received.source)) source->bytes += received.bytes;
  }
  void operator()(const event::BytesReused& reused) const { state.reused += reused.bytes; }
  void operator()(const event::BytesKept& kept) const { state.kept += kept.bytes; }
  void operator()(const event::HostPaused& paused) const {
    if (state.pauses.size() < pauses_max) state.pauses[paused.host] = now_s + paused.seconds;
  }
  void operator()(const event::SourceNamed& named) const {
    SourceProgress* source = source_of(state, named.source);
    if (source == nullptr) return;
    source->url = named.url;
    source->meter.advance(now_s, source->bytes);
  }
  void operator()(const event::SourceFailed& failed) const {
    SourceProgress* source = source_of(state, failed.source);
    if (source == nullptr) return;
    ++source->failures;
    source->demoted = failed.demoted;
  }
  void operator()(const event::FileDone&) const { ++state.files_done; }
  void operator()(const event::PhaseChanged& changed) const { state.phase = changed.phase; }
  void operator()(const event::Note&) const {}
  void operator()(const event::Warning&) const {}
  void operator()(const event::Message&) const {}
  void operator()(const event::AssetFinished&) const {}
  void operator()(const event::ServeStarted&) const {}
  // RunDisplay shows the events of a run.
  void operator()(const event::RunStarted&) const {}
  void operator()(const event::MetricRead&) const {}
  void operator()(const event::OutputRead&) const {}
  void operator()(const event::RunTick&) const {}
  void operator()(const event::RunEnded&) const {}
};

}  // namespace

void RateMeter::advance(double now_s, std::uint64_t bytes_total) {
  if (!last_s_) {
    last_s_ = now_s;
    last_bytes_ = bytes_total;
    return;
  }
  const double passed_s = now_s - *last_s_;
  if (passed_s <= 0 || bytes_total < last_bytes_) return;
  const double share = 1 - std::exp(-passed_s / time_constant_s);
  smoothed_ += share * (static_cast<double>(bytes_total - last_bytes_) / passed_s - smoothed_);
  weight_ += share * (1 - weight_);
  last_s_ = now_s;
  last_bytes_ = bytes_total;
}

// Divided by the weight so that the first second does not look slow.
double RateMeter::rate() const { return weight_ > 0 ? smoothed_ / weight_ : 0; }

void apply(ProgressState& state, const Event& event, double now_s) { std::visit(Apply{state, now_s}, event); }

void advance(ProgressState& state, double now_s) {
  state.now_s = std::max(state.now_s, now_s);
  std::erase_if(state.pauses, [now_s](const auto& pause) { return pause.second <= now_s; });
  state.meter.advance(now_s, state.received);
  for (auto& [number, source] : state.sources) source.meter.advance(now_s, source.bytes);
}

}  // namespace sabath::cli
