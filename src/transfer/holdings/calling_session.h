// A session as code below it sees it: its settings, its ranks, and its way to fetch assets. Plain values; the session
// lives as long.
#pragma once

#include <functional>
#include <stop_token>

#include "sabath/comm.h"
#include "sabath/event.h"
#include "sabath/session_settings.h"
#include "sabath/verbs/fetch.h"

namespace sabath {

struct CallingSession {
  const SessionSettings& settings;
  Comm* ranks = nullptr;  // nullptr: one process
  // By this process alone, also where the session has ranks. Throws as Session::fetch().
  std::function<FetchRecord(const FetchRequest&, EventSink&, std::stop_token)> fetch_alone;
};

}  // namespace sabath
