// Assets in one tar, for machines without a network: written from one store, read into another, nothing believed on the
// way. Format: docs/bundles.md. One thread. Throws Error{invalid} for what is no bundle, Error{content} for wrong
// bytes, Error{space}, Error{storage}; what was verified until then is kept, and a second import goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "fetch/archives/want_list.h"
#include "store/store.h"

namespace sabath {

inline constexpr std::uint64_t bundled_manifest_size_max = std::uint64_t{4} << 30;

struct BundledAsset {
  std::string name, trusted_by, source;
  Sha256 root;
  std::string kind = {};  // "model"; of the reader any text; empty: a dataset, or not known
  friend bool operator==(const BundledAsset&, const BundledAsset&) = default;
};

struct BundleHead {
  std::vector<BundledAsset> assets;
  std::uint64_t runs = 0, bytes = 0;  // members with content, and what they hold
};

// Consecutive chunks of a file, or the whole of one with at most one chunk (count 0: it is empty).
struct ChunkRun {
  Digest file;
  std::uint64_t first = 0, count = 0;
  [[nodiscard]] std::uint64_t offset() const { return first * chunk_size_bytes; }
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::string text() const;  // "<64 hex>.<size>.<first>+<count>"
  friend bool operator==(const ChunkRun&, const ChunkRun&) = default;
};
[[nodiscard]] std::optional<ChunkRun> try_parse_run(std::string_view text);  // one spelling only

using OnBytes = std::function<void(std::uint64_t)>;

// Writes a bundle of `assets`, whose manifests and content the store has, to `fd`; `filter` leaves out what the other
// side need not be sent, nullptr: nothing. Each chunk is hashed as it is read: Error{content} if the store is damaged.
BundleHead write_bundle(Store& store, const std::vector<BundledAsset>& assets, const WantList* filter, int fd,
                        const OnBytes& on_bytes, const std::stop_token& stop);

struct ImportedAsset {
  BundledAsset asset;
  std::uint64_t files = 0, bytes = 0;  // of its manifest
  std::vector<std::string> missing;    // the first of them
  std::uint64_t missing_files = 0;     // neither in the bundle nor here
};
struct Imported {
  std::vector<ImportedAsset> assets;
  std::uint64_t bundle_bytes = 0;   // content of the bundle that was taken
  std::uint64_t copied_bytes = 0;   // chunks that stood in other objects of the store
  std::uint64_t present_bytes = 0;  // content of the bundle that was here
};
Imported read_bundle(Store& store, int fd, const OnBytes& on_bytes, const std::stop_token& stop);

inline constexpr std::string_view bundle_head_name = "sabath-bundle.json";
inline constexpr std::string_view bundle_contents_name = "contents";
inline constexpr std::uint64_t bundle_runs_max = std::uint64_t{1} << 26;

}  // namespace sabath
