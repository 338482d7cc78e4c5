#include "fetch/unanswered.h"

#include <algorithm>

#include <fmt/format.h>

namespace sabath {
namespace {

struct Look {
  std::list<Flow>& flows;
  const Schedule& schedule;
  double now;
  EventSink& events;

  [[nodiscard]] bool mute(const Flow& flow, double seconds) const {
    if (!flow.has_run || flow.stop.stop_requested() || !schedule.mute(*flow.run, seconds, now)) return false;
    return !flow.pick.host->by_program() && !flow.pick.host->by_login();
  }

  // Its host has more connections than it is given now, and who was served gives a place back first; at last all places
  // are held by requests without an answer.
  [[nodiscard]] bool keeps_out_the_served(const Flow& flow, double seconds) const {
    if (!mute(flow, seconds)) return false;
    const Host& host = *flow.pick.host;
    unsigned ending = 0, waiting = 0;
    for (const Flow& other : flows) {
      if (other.pick.host != &host) continue;
      ending += other.stop.stop_requested() ? 1 : 0;
      waiting += mute(other, 0) ? 1 : 0;
    }
    const unsigned in_use = host.in_use(), stay = in_use - std::min(in_use, ending), places = host.places();
    return stay > places || (stay == places && waiting == stay);
  }

  void end(Flow& flow, const char* why) const {
    events.on(event::Note{fmt::format("{}: a request of {:.1f} s without an answer is ended: {}",
                                      flow.pick.url->display(), now - flow.run->heard_time, why)});
    flow.stop.request_stop();
  }
};

}  // namespace

void Unanswered::end(std::list<Flow>& flows, const Schedule& schedule, double now, EventSink& events) {
  const Look look{flows, schedule, now, events};
  if (std::ranges::any_of(flows, [&](const Flow& flow) { return look.mute(flow, after_); })) {
    for (Flow& flow : flows) {
      if (!look.mute(flow, after_ / 2)) continue;
      look.end(flow, "others have theirs");
      flow.pick.host->left_out();
    }
    after_ *= 2;
  }
  if (std::ranges::any_of(flows, [&](const Flow& flow) { return look.keeps_out_the_served(flow, crowding_after_); })) {
    for (auto flow = flows.rbegin(); flow != flows.rend(); ++flow) {  // who waits since a moment has least to lose
      if (look.keeps_out_the_served(*flow, crowding_after_ / 2)) look.end(*flow, "its place is for who has answers");
    }
    crowding_after_ *= 2;
  }
}

}  // namespace sabath
