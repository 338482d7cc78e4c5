// The content that one store wants of another, or has: a small file that travels between machines without a network.
// Format: docs/bundles.md. Values and pure functions but for the two that look into a store. Throws Error{invalid}.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/manifest.h"
#include "store/store.h"

namespace sabath {

// One piece of content: a chunk of a file of several, or a file of one chunk at most.
using PieceKey = std::array<std::uint8_t, 16>;
[[nodiscard]] PieceKey chunk_key(const Sha256& hash, std::uint64_t length);
[[nodiscard]] PieceKey file_key(const Digest& file);

struct WantedAsset {
  std::string name;
  Sha256 root;  // all zeros: as the other side's recipe says
  friend bool operator==(const WantedAsset&, const WantedAsset&) = default;
};

struct WantList {
  enum class Kind { missing, have };  // the pieces that are wanted; or those that need not be sent
  Kind kind = Kind::have;
  std::vector<WantedAsset> assets;
  std::vector<PieceKey> pieces;  // sorted, each once
  [[nodiscard]] bool wants(const PieceKey& piece) const;
};

inline constexpr std::uint64_t want_list_size_max = std::uint64_t{1} << 30;
inline constexpr std::size_t bundle_assets_max = 1024;

[[nodiscard]] std::string encode_want_list(const WantList& list);
[[nodiscard]] WantList parse_want_list(std::string_view bytes, const std::string& name);

// Of each asset: its pieces that this store lacks, if it has all manifests; else what the store has of everything.
[[nodiscard]] WantList make_want_list(Store& store, std::vector<WantedAsset> assets);
// Everything that the store has, by its manifests.
[[nodiscard]] std::vector<PieceKey> pieces_of(Store& store);

}  // namespace sabath
