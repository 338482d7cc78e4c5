#include "simulation_link.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sabath::test {
namespace {

double window_rate(const SimulatedSource& source) { return source.window / source.round_trip; }

}  // namespace

// Round trips of slow start until a connection has `part` of its window.
double trips_to(const SimulatedSource& source, double part) {
  return std::max(0.0, std::log2(part * source.window / source.first_window));
}

double rate_at(const SimulatedSource& source, double since) {
  if (since < 0) return 0;
  const double trips = since / source.round_trip;
  if (trips >= trips_to(source, 1)) return window_rate(source);
  return source.first_window * std::exp2(trips) / source.round_trip;
}

double step_of(const SimulatedCase& setting) {
  double rate = 0;
  for (const auto& source : setting.sources) rate += source.rate;
  const double least = static_cast<double>(setting.size_bytes) / std::min(setting.link_rate, rate);
  return std::clamp(least / 250, 0.0005, 0.02);
}

// Max-min fair shares of `total`, in place: what asks for less than an equal share has all that it asks for.
void share(double total, std::span<double* const> wants) {
  double asked = 0;
  for (const double* want : wants) asked += *want;
  if (asked <= total || wants.empty()) return;
  double level = total / static_cast<double>(wants.size());
  for (int round = 0; round < 6; ++round) {
    double small = 0;
    std::size_t large = 0;
    for (const double* want : wants) {
      if (*want <= level) {
        small += *want;
      } else {
        ++large;
      }
    }
    if (large == 0) break;
    level = std::max(level, (total - small) / static_cast<double>(large));
  }
  for (double* want : wants) *want = std::min(*want, level);
}

double ideal_seconds(const SimulatedCase& setting) {
  const double step_s = step_of(setting);
  double came = 0, now = 0;
  while (came < static_cast<double>(setting.size_bytes) && now < 1e7) {
    double rate = 0;
    for (const auto& source : setting.sources) {
      const double middle = now + step_s / 2;
      if (source.lies > 0 || middle >= std::min(source.dies_at, source.silent_at)) continue;
      const double connected = (source.connect_trips + 1) * source.round_trip + source.think;
      const double begin = std::max(connected, source.ready_at);
      const unsigned connections = std::min(setting.connections_max, source.accepts);
      rate += std::min(source.rate, connections * rate_at(source, middle - begin));
    }
    came += std::min(rate, setting.link_rate) * step_s;
    now += step_s;
  }
  return now;
}

std::string describe(const SimulatedCase& setting) {
  std::string text = fmt::format("seed {}: {} bytes in chunks of {}, link {:.2f} MB/s, {} lanes{}", setting.seed,
                                 setting.size_bytes, setting.chunk_bytes, setting.link_rate / 1e6, setting.lanes_max,
                                 setting.in_order ? ", in order" : "");
  for (const auto& source : setting.sources) {
    text += fmt::format("\n  {:.3f} MB/s, {:.1f} ms + {:.1f} ms, window {:.0f} kB", source.rate / 1e6,
                        source.round_trip * 1e3, source.think * 1e3, source.window / 1e3);
    if (source.dies_at < never) text += fmt::format(", dies at {:.2f} s", source.dies_at);
    if (source.silent_at < never) text += fmt::format(", silent at {:.2f} s", source.silent_at);
    if (source.lies > 0) text += fmt::format(", lies in {:.3f}", source.lies);
    if (source.stalls > 0) text += fmt::format(", {:.2f} stalls a second", source.stalls);
    if (source.accepts < 1000) text += fmt::format(", accepts {}", source.accepts);
    if (source.ready_at > 0) text += fmt::format(", ready at {:.2f} s", source.ready_at);
  }
  return text;
}

}  // namespace sabath::test
