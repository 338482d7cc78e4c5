// Requests of one file that nobody answers while their host answers others: whom to end, and when. A host that takes so
// many connections and no more may let the others wait for ever, and they keep places that its limits, and ours, count.
// The caller has the mutex that guards the flows.
#pragma once

#include <list>

#include "fetch/transfer/flow.h"
#include "sabath/event.h"

namespace sabath {

class Unanswered {
 public:
  // Asks those to stop that are to end, and says so. Programs and logins, slow to begin on a busy machine, are let be.
  void end(std::list<Flow>& flows, const Schedule& schedule, double now, EventSink& events);

 private:
  // Seconds. Who began at about the same time, half as long ago, goes at the same time. Each time there is twice the
  // patience: what they wait for may only be slow to come.
  double after_ = 5, crowding_after_ = 0.5;  // the second: who keeps out those that have answers
};

}  // namespace sabath
