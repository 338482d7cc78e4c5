// `env pack` of a lock: its wheels fetched, and made an environment with an interpreter. One thread. Throws what the
// call throws, and Error{...} of the first wheel that cannot be fetched.
#pragma once

#include <set>
#include <stop_token>
#include <string>

#include "assembly/assemble.h"
#include "sabath/event.h"
#include "sabath/session_settings.h"
#include "sabath/verbs/env_pack.h"
#include "software/programs.h"
#include "store/store.h"

namespace sabath {

struct PackedLock {
  AssembledEnvironment environment;
  std::uint64_t fetched_bytes = 0;
};

[[nodiscard]] PackedLock pack_lock(const SessionSettings& settings, Store& store, Programs& programs,
                                   const EnvPackRequest& request, const std::set<std::string>& accepted,
                                   EventSink& events, const std::stop_token& stop);

}  // namespace sabath
