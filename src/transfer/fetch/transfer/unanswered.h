// Requests of one file that their host leaves without an answer while it answers others: which to end, and when. A host
// that serves a fixed number of connections may let the others wait for ever; they keep places that its limits and ours
// count. The caller holds the mutex that guards the flows.
#pragma once

#include <list>

#include "fetch/transfer/flow.h"
#include "sabath/event.h"

namespace sabath {

class Unanswered {
 public:
  // Asks the requests that are to end to stop, and reports it. Leaves programs and logins, which may begin slowly.
  void end(std::list<Flow>& flows, const Schedule& schedule, double now, EventSink& events);

 private:
  // Seconds. Requests that have waited for half as long end at the same time. Each time the patience doubles, as the
  // answers may only be slow to come.
  double after_ = 5, crowding_after_ = 0.5;  // the second: for requests that keep out those that have answers
};

}  // namespace sabath
