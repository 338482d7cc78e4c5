// `env pack` of conda's lock: its packages fetched, and made an environment for one place. One thread. Throws what the
// call throws, and Error{...} of the first package that cannot be fetched.
#pragma once

#include <filesystem>
#include <set>
#include <stop_token>
#include <string>

#include "conda/conda_assembly.h"
#include "sabath/event.h"
#include "sabath/session_settings.h"
#include "sabath/verbs/env_pack.h"
#include "software/programs.h"
#include "store/store.h"

namespace sabath {

struct PackedConda {
  AssembledConda environment;
  std::uint64_t fetched_bytes = 0;
};

// By its name and what it begins with: conda-lock.yml, or an explicit list.
[[nodiscard]] bool is_conda_lock(const std::filesystem::path& file);
[[nodiscard]] PackedConda pack_conda_lock(const SessionSettings& settings, Store& store, Programs& programs,
                                          const EnvPackRequest& request, const std::set<std::string>& accepted,
                                          EventSink& events, const std::stop_token& stop);

}  // namespace sabath
