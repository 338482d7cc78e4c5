// Assets of the session's store that no collection takes. One thread; safe beside all other work on the
// store. Throws Error{not_found}, Error{offline} if the store or the asset is not there, Error{space}, Error{storage}.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"

namespace sabath {

class Session;

struct KeepRequest {
  std::vector<std::string> names = {};  // assets of the store, or roots as "sha256:<hex>"; none: what is kept is listed
};

struct KeptAsset {
  std::string name;                  // as it was called when that was said; may be empty
  std::string manifest;              // its root, "sha256:<hex>"
  std::optional<std::int64_t> time;  // when that was said, in seconds since 1970; in lists only
};

struct KeepRecord {
  std::vector<KeptAsset> kept;  // by this call; or all there are
  int exit = 0;
};

// The version that the store holds now. If one of several fails, those before it are kept.
[[nodiscard]] KeepRecord keep(Session& session, const KeepRequest& request, EventSink& events,
                              std::stop_token stop = {});
[[nodiscard]] std::string to_json(const KeepRecord& record);

struct UnkeepRequest {
  std::vector<std::string> names = {};  // as they were kept, or roots
};

struct UnkeepRecord {
  std::vector<KeptAsset> unkept;
  int exit = 0;
};

// Deletes no content: a collection may take the assets from now on.
[[nodiscard]] UnkeepRecord unkeep(Session& session, const UnkeepRequest& request, EventSink& events,
                                  std::stop_token stop = {});
[[nodiscard]] std::string to_json(const UnkeepRecord& record);

}  // namespace sabath
