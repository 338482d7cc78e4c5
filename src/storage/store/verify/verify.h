// Reads the store's content again. docs/store.md, "Verification and quarantine". Free functions; one thread each, the
// workers are inside. Throws Error{space}, Error{storage}, Error{interrupted}.
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
  // Where an earlier look left an XXH3, and size and mtime are unchanged, compares that: it still reads every byte. It
  // guards against disks, not against people. SHA-256 decides where there is no XXH3, or it differs.
  bool quick = false;
  // A file that was found right within this time, and has not changed since by its stat, is not read again; it is
  // counted as remembered. So an interrupted verification goes on.
  std::optional<std::chrono::seconds> within;
  // Of several processes that verify one store together, each reads the objects and packs of its part: by hash, so that
  // none is skipped because two processes see different lists. Part 0 looks at the names, too.
  unsigned part = 0, parts = 1;
  [[nodiscard]] bool is_ours(const Digest& file) const;
  bool salvage = false;  // the good chunks of a bad object are kept as a partial: only the bad ones are fetched again
  std::function<void(std::uint64_t)> on_bytes;  // may be empty; one call at a time; may throw VerifyStopped
};

// Not an Error, for any Error of a reading is a fault of the file read. verify() then throws Error{interrupted}.
struct VerifyStopped {};

// nullptr: every object and name of the store, and the content that those names promise and the store lacks. One part
// of several leaves the lacks to add_lacks(), which the caller runs on the merged report.
[[nodiscard]] VerifyReport verify(Store& store, const Manifest* manifest, const VerifyOptions& options);

void add_lacks(Store& store, VerifyReport& report);

// The files and manifests that assets named by refs, pins and views lack. Looks at names, reads no content. One line
// for each, for people; without those in `told`, which are put aside.
[[nodiscard]] std::vector<std::string> missing_of_assets(Store& store, const std::vector<BadChunk>& told = {});

}  // namespace sabath
