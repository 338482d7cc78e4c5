// Trees of a fetched asset's files. One thread a session. Throws Error{offline} where the store
// does not hold all of it, Error{not_found}, Error{usage}, Error{space}, Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"

namespace sabath {

class Session;

enum class ViewFiles {
  copies,   // of the caller's own
  links,    // read-only, shared with the store where the filesystem lets them be
  symlinks  // to the store, which must keep the asset as long
};

enum class ViewLayout {
  files,  // as they stand in the asset
  hub     // as a cache of Hugging Face's hub: docs/huggingface.md
};

struct ViewRequest {
  std::string name;                         // an asset, or a root as "sha256:<hex>"
  std::optional<std::filesystem::path> to;  // a new directory outside the store; absent: in the store
  std::optional<ViewFiles> files = {};      // of the tree outside the store; absent: copies
  ViewLayout layout = ViewLayout::files;    // hub: `to` is a cache, which may have other repositories
  std::string repository = {};              // with hub: "[datasets/]OWNER/NAME" for a tree that no hub gave
};

struct ViewRecord {
  std::string name, manifest;  // "sha256:<hex>"
  std::filesystem::path path;
  std::uint64_t files = 0, bytes = 0;     // of the asset
  std::vector<std::string> repositories;  // with hub: "datasets/OWNER/NAME@COMMIT"
  int exit = 0;
};

[[nodiscard]] ViewRecord view(Session& session, const ViewRequest& request, EventSink& events,
                              std::stop_token stop = {});
[[nodiscard]] std::string to_json(const ViewRecord& record);

}  // namespace sabath
