// A cache of Hugging Face's hub becomes content of the store where it stands: objects are symlinks to its blobs. A
// blob's name is the hash of its bytes (SHA-256 of a file in LFS, git's of others), and is compared with them as they
// are read once. docs/huggingface.md. Throws Error{usage}, Error{storage}, Error{invalid}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "manifest/file_tree.h"
#include "manifest/manifest.h"
#include "sabath/error.h"
#include "sabath/resolver.h"
#include "store/store.h"

namespace sabath {

struct CachedFile {
  RelativePath path;           // in the repository
  std::filesystem::path blob;  // without symlinks
  std::string name;            // of the blob, as the snapshot has it
};

// A snapshot of a repository in a cache.
struct CachedRevision {
  HubRevision hub;
  std::filesystem::path snapshot;
};

// Of a cache, or of the folder of one repository; sorted by name and commit. Throws Error{usage} if it is neither.
[[nodiscard]] std::vector<CachedRevision> cached_revisions(const std::filesystem::path& directory);
[[nodiscard]] bool is_hub_cache(const std::filesystem::path& directory) noexcept;

class CacheAdoption {
 public:
  // `on_bytes` is called by one thread at a time, and may throw.
  CacheAdoption(Store& store, unsigned threads, std::function<void(std::uint64_t)> on_bytes)
      : store_(store), threads_(threads), on_bytes_(std::move(on_bytes)) {}

  struct Adopted {
    Sha256 root;
    Totals totals;
    std::uint64_t unchecked = 0;  // files whose names are no hash
  };
  // Throws Error{content} that names a blob whose bytes are not what its name says; nothing is known of it then.
  Adopted adopt(const CachedRevision& revision);

 private:
  FileTree read(const CachedFile& file);
  void read_all(const std::vector<CachedFile>& files);

  Store& store_;
  const unsigned threads_;
  const std::function<void(std::uint64_t)> on_bytes_;
  std::mutex mutex_;                                 // of on_bytes_ and trees_
  std::map<std::filesystem::path, FileTree> trees_;  // of blobs that were read: revisions share them
};

}  // namespace sabath
