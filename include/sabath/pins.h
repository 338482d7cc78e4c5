// Assets of the session's store that no collection takes. One thread; safe beside all other work on the
// store. Throws Error{not_found}, Error{offline} if the store or the asset is not there, Error{space}, Error{storage}.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/session.h"

namespace sabath {

struct PinRequest {
  std::vector<std::string> names = {};  // assets of the store, or roots as "sha256:<hex>"; none: the pins are listed
};

struct PinnedAsset {
  std::string name;                  // as it was called when it was pinned; may be empty
  std::string manifest;              // its root, "sha256:<hex>"
  std::optional<std::int64_t> time;  // when it was pinned, in seconds since 1970; in lists only
};

struct PinRecord {
  std::vector<PinnedAsset> pins;  // that this call made; or all there are
  int exit = 0;
};

// A pin keeps the version that the store holds now. If one of several fails, those before it are pinned.
[[nodiscard]] PinRecord pin(Session& session, const PinRequest& request, EventSink& events, std::stop_token stop = {});
[[nodiscard]] std::string to_json(const PinRecord& record);

struct UnpinRequest {
  std::vector<std::string> names = {};  // as they were pinned, or roots
};

struct UnpinRecord {
  std::vector<PinnedAsset> unpinned;
  int exit = 0;
};

// Deletes nothing but the pins: a collection may take the assets from now on.
[[nodiscard]] UnpinRecord unpin(Session& session, const UnpinRequest& request, EventSink& events,
                                std::stop_token stop = {});
[[nodiscard]] std::string to_json(const UnpinRecord& record);

}  // namespace sabath
