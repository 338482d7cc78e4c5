// The reports of a staging job's nodes at its end, and rank 0's judgement of them. Values; pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "manifest/manifest.h"
#include "sabath/error.h"
#include "sabath/verbs/stage.h"

namespace sabath {

struct NodeReport {
  std::optional<Failure> failure;
  bool incomplete = false;  // through no fault of its own
  // Bytes.
  std::uint64_t from_shared = 0, from_origin = 0, received = 0, sent = 0, present = 0;
  unsigned node = 0;
  std::string host;

  [[nodiscard]] std::string bytes() const;
  [[nodiscard]] static NodeReport parse(const std::string& bytes);
};

// What the asset is: of a selection, what was asked for.
void describe(StagedAsset& asset, const Manifest& manifest, const std::vector<std::string>& selection);

// Adds the nodes' figures and failures to `asset`; returns the failure of the whole, if there is one. If at
// most `allowed` nodes failed, its kind is `nodes`.
[[nodiscard]] std::optional<Failure> judge(StagedAsset& asset, const std::vector<NodeReport>& reports,
                                           unsigned allowed);

}  // namespace sabath
