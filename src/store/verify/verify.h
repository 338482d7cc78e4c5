// Reading again what the store holds. docs/store.md, "Verification and quarantine". Free functions; one thread each,
// the workers are inside. Throws Error{space}, Error{storage}, Error{interrupted}.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "store/store.h"

namespace sabath {

struct VerifyOptions {
  unsigned threads = 0;  // 0: one a core
  // Where an earlier look left an XXH3, and size and mtime are what they were, that is compared: every byte is read all
  // the same. It guards against disks, not against people. SHA-256 decides where there is none, or it differs.
  bool quick = false;
  // What was read and found right within this time, and has not changed since as far as its stat tells, is not read
  // again; it is counted as remembered. So an interrupted verification goes on.
  std::optional<std::chrono::seconds> within;
  // Of several that verify one store together, each reads the objects and packs of its part: by their hash, so that
  // none is passed over because two see another list. Part 0 looks at the names, too.
  unsigned part = 0, parts = 1;
  [[nodiscard]] bool is_ours(const Digest& file) const;
  bool salvage = false;  // the good chunks of a bad object are kept as a partial: only the bad ones are fetched again
  std::function<void(std::uint64_t)> on_bytes;  // may be empty; one call at a time; may throw VerifyStopped
};

// Not an Error, for any Error of a reading is a fault of what is read. verify() then throws Error{interrupted}.
struct VerifyStopped {};

// nullptr: every object and name of the store, and what those names promise and it lacks; of one part of several
// without the latter: that is for add_lacks() when their reports have become one.
[[nodiscard]] VerifyReport verify(Store& store, const Manifest* manifest, const VerifyOptions& options);

void add_lacks(Store& store, VerifyReport& report);

// What assets of the store lack: files, and manifests, of what refs, pins and views name. Names are looked at, no
// content is read. One line for each, for people; but for `told`, which has been put aside.
[[nodiscard]] std::vector<std::string> missing_of_assets(Store& store, const std::vector<BadChunk>& told = {});

}  // namespace sabath
