// One asset brought to all nodes of a job: agreed before the first byte, moved once, checked, shown only when whole.
// Collective over all ranks of `world`; the nodes' leaders do the work. Main thread.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

#include "manifest/manifest.h"
#include "sabath/comm.h"
#include "sabath/event.h"
#include "sabath/verbs/stage.h"
#include "stage/from_origin.h"
#include "store/store.h"

namespace sabath {

struct StageJob {
  std::string name;                  // the same on all ranks
  std::optional<Manifest> manifest;  // of the asset; rank 0 alone has it, and `bytes`
  std::string bytes;                 // the manifest's file
  Store* shared = nullptr;           // nullptr: this rank does not see it
  std::string batch_job;             // of which this is a part; for people
  std::filesystem::path program;     // SessionSettings
  FetchPart fetch_part;              // where the shared store is passed by; may be empty
};

// Rank 0's `asset` is the record; `failure` is that of all ranks. Failures of nodes are data; throws
// Error{nodes} when a rank does not answer.
struct Staged {
  StagedAsset asset;
  std::optional<Failure> failure;
  bool shared_lacks = false;  // only because the shared store does not have all of it
};
[[nodiscard]] Staged stage_asset(Comm& world, StageJob job, const StageRequest& request, EventSink& events,
                                 const std::stop_token& stop);

}  // namespace sabath
