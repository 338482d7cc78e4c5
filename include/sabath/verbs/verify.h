// The content of the session's store, read again and compared with every hash; and what is bad or missing, fetched
// again. One thread calls.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/digest.h"
#include "sabath/event.h"

namespace sabath {

class Session;

struct VerificationRequest {
  std::vector<std::string> names = {};  // assets; none: the whole store
  unsigned threads = 0;                 // that read and hash, 1024 at most; 0: one a core
  bool quick = false;  // XXH3 is compared where an earlier verification left one: as many bytes are read
  std::optional<std::chrono::seconds> within = {};  // what was read and right within this time is not read again
  std::uint64_t limit_rate = 0;                     // bytes a second of all ranks together; 0: no limit
  bool repair = false;  // fetches again what is bad or missing: of a large file, its bad chunks
};

struct VerifyFinding {
  std::string path;  // in the asset, or below the store; may be empty
  Digest digest;     // of the file
  std::uint64_t chunk = 0, offset = 0;
  std::string what;           // is wrong, and what was done about it
  bool removed_link = false;  // it is a view's link to a bad object, which is named as well
  bool mended = false;        // it is right again, or no asset needs it
};

struct StrayFile {   // where the store's objects stand, and none of them
  std::string path;  // below the store
  std::uint32_t owner = 0;
};

struct RepairedAsset {
  std::string name;
  std::uint64_t fetched_bytes = 0;
  std::vector<std::string> failures;  // empty: it is whole again
};

struct VerifiedAsset {
  std::string name, manifest;  // both are empty for the whole store; manifest: "sha256:<hex>"
  std::uint64_t files = 0, bytes_read = 0;
  std::uint64_t copies = 0;                 // of these files in a view of their own, which were read as well
  std::uint64_t quick = 0, remembered = 0;  // files: of those read, by XXH3; and not read, for they were lately
  std::uint64_t missing = 0;
  std::vector<std::string> missing_paths;
  std::vector<VerifyFinding> bad;
  std::vector<StrayFile> strays;  // left where they are: they harm no asset
  std::vector<RepairedAsset> repaired;
  std::uint64_t unmended = 0;  // of `bad`
};

struct VerificationRecord {
  std::vector<VerifiedAsset> assets;
  int exit = 0;  // 0: all is right, or was put right; 7: content is bad; 8: a part is missing; 9: all is
};

// Collective, if the session has ranks: each reads its part of one store. The record of rank 0 has the assets, every
// record the same exit code, and each rank throws the same. Throws Error{offline} if there is no store or it does not
// hold an asset, Error{not_found}, Error{usage}, Error{interrupted}, Error{space}, Error{storage}.
[[nodiscard]] VerificationRecord verify(Session& session, const VerificationRequest& request, EventSink& events,
                                        std::stop_token stop = {});
// As if one call had verified what both did.
void append(VerificationRecord& record, VerificationRecord more);
[[nodiscard]] std::string to_json(const VerificationRecord& record);

}  // namespace sabath
