#include "fetch/transfer/unanswered.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace sabath {
namespace {

struct Places {  // at one host
  unsigned given = 0;
  unsigned taken = 0;    // by requests that are not about to end
  unsigned waiting = 0;  // of them, for an answer
  // More are taken than it is given now, and served requests give theirs back first; at last only requests without an
  // answer are left.
  [[nodiscard]] bool keep_out_the_served() const { return taken > given || (taken == given && waiting == taken); }
};

struct Look {
  std::list<Flow>& flows;
  const Schedule& schedule;
  double now;
  EventSink& events;

  [[nodiscard]] bool mute(const Flow& flow, double seconds) const {
    if (!flow.has_run || flow.stop.stop_requested() || !schedule.mute(*flow.run, seconds, now)) return false;
    return !flow.pick.host->by_program() && !flow.pick.host->by_login();
  }

  [[nodiscard]] bool any_mute(double seconds) const {
    return std::ranges::any_of(flows, [&](const Flow& flow) { return mute(flow, seconds); });
  }

  [[nodiscard]] std::map<const Host*, Places> places() const {
    std::map<const Host*, Places> result;
    for (const Flow& flow : flows) {
      const Host* host = flow.pick.host;
      const auto [at, fresh] = result.try_emplace(host);
      if (fresh) at->second = {.given = host->places(), .taken = host->in_use()};
      if (flow.stop.stop_requested()) at->second.taken -= std::min(at->second.taken, 1U);
      at->second.waiting += mute(flow, 0) ? 1 : 0;
    }
    return result;
  }

  void end(Flow& flow, const char* why) const {
    events.on(event::Note{fmt::format("{}: a request of {:.1f} s without an answer is ended: {}",
                                      flow.pick.url->display(), now - flow.run->heard_time, why)});
    flow.stop.request_stop();
  }
};

// False: no request that has waited for `patience` keeps out one that is served.
bool make_room(const Look& look, double patience) {
  if (!look.any_mute(patience)) return false;
  auto places = look.places();
  const auto crowding = [&](const Flow& flow, double seconds) {
    return places[flow.pick.host].keep_out_the_served() && look.mute(flow, seconds);
  };
  if (std::ranges::none_of(look.flows, [&](const Flow& flow) { return crowding(flow, patience); })) return false;
  for (auto flow = look.flows.rbegin(); flow != look.flows.rend(); ++flow) {  // the youngest has least to lose
    if (!crowding(*flow, patience / 2)) continue;
    look.end(*flow, "its place is for who has answers");
    --places[flow->pick.host].taken;
    --places[flow->pick.host].waiting;
  }
  return true;
}

}  // namespace

void Unanswered::end(std::list<Flow>& flows, const Schedule& schedule, double now, EventSink& events) {
  const Look look{flows, schedule, now, events};
  if (look.any_mute(after_)) {
    for (Flow& flow : flows) {
      if (!look.mute(flow, after_ / 2)) continue;
      look.end(flow, "others have theirs");
      flow.pick.host->left_out();
    }
    after_ *= 2;
  }
  if (make_room(look, crowding_after_)) crowding_after_ *= 2;
}

}  // namespace sabath
