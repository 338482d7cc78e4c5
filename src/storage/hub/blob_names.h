// The names that a hub gives to the content of files: git's hash of small ones, SHA-256 of those in LFS, whose blob in
// git is a pointer. They are the names of blobs in a cache, and the ETags of answers. Any thread. Throws
// Error{storage}.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "manifest/manifest.h"
#include "sabath/resolver.h"
#include "store/store.h"

namespace sabath {

// The text that git holds in the place of a file in LFS.
[[nodiscard]] std::string lfs_pointer_text(const std::string& sha256, std::uint64_t size_bytes);

struct HubFile {
  std::string path;             // in the repository
  Entry entry;                  // in the asset
  std::string blob_id, sha256;  // git's hash; of a file in LFS its content's, too
  [[nodiscard]] const std::string& etag() const { return sha256.empty() ? blob_id : sha256; }
};

class BlobNames {
 public:
  explicit BlobNames(Store& store) : store_(store) {}
  // `entry`, a file whose content is present. `published`: its checksums in the manifest. A hub keeps no file of more
  // than 10 MiB outside LFS.
  [[nodiscard]] HubFile of(const HubRevision& hub, const Entry& entry, const Checksums& published);

 private:
  [[nodiscard]] std::string hash(const Digest& digest, bool in_lfs);

  Store& store_;
  std::mutex mutex_;
  std::unordered_map<Digest, std::string> known_;  // that had to be read: git's hashes, or SHA-256
};

// The path in the repository of an asset's file; empty: it is none of the repository's.
[[nodiscard]] std::string path_in_hub(const HubRevision& hub, const std::string& path_in_asset);
// All of an asset's files that are the repository's, in the order of the asset.
[[nodiscard]] std::vector<HubFile> files_of(BlobNames& names, const HubRevision& hub, const Manifest& manifest);

}  // namespace sabath
