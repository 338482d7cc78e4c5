#include "session/caller_of.h"

#include <utility>

#include "sabath/session.h"

namespace sabath {

CallingSession caller_of(Session& session) {
  return {session.settings(), session.ranks(),
          [&session](const FetchRequest& request, EventSink& events, std::stop_token stop) {
            if (session.ranks() == nullptr) return session.fetch(request, events, std::move(stop));
            return Session(session.settings()).fetch(request, events, std::move(stop));
          }};
}

}  // namespace sabath
