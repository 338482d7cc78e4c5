// Names of content. SHA-256 decides; a Digest is the hash together with what was hashed and how long it is.
// Format: docs/manifest.md. Plain values, thread-safe, parse throws Error{invalid}.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sabath {

inline constexpr std::uint64_t leaf_size_bytes = 64 * 1024;         // unit of hashing
inline constexpr std::uint64_t chunk_size_bytes = 4 * 1024 * 1024;  // unit of transfer, blame, deduplication
inline constexpr std::uint64_t leaves_per_chunk = chunk_size_bytes / leaf_size_bytes;

class Sha256 {
 public:
  static constexpr std::size_t size = 32;
  constexpr Sha256() = default;  // all zeros
  explicit constexpr Sha256(const std::array<std::uint8_t, size>& bytes) : bytes_(bytes) {}

  // 64 hexadecimal digits, optionally after "sha256:".
  [[nodiscard]] static std::optional<Sha256> try_parse(std::string_view text) noexcept;
  [[nodiscard]] static Sha256 parse(std::string_view text);

  [[nodiscard]] std::string hex() const;       // 64 lower-case digits
  [[nodiscard]] std::string prefixed() const;  // "sha256:" + hex()
  [[nodiscard]] constexpr const std::array<std::uint8_t, size>& bytes() const { return bytes_; }
  friend constexpr auto operator<=>(const Sha256&, const Sha256&) = default;

 private:
  std::array<std::uint8_t, size> bytes_{};
};

enum class ContentKind : std::uint8_t { file, tree };

struct Digest {
  ContentKind kind = ContentKind::file;
  std::uint64_t size_bytes = 0;  // file: its length; tree: the bytes of all files below
  Sha256 hash;

  friend auto operator<=>(const Digest&, const Digest&) = default;
};

// Number of chunks of a file of this length; an empty file has none.
[[nodiscard]] constexpr std::uint64_t chunk_count(std::uint64_t size_bytes) {
  return size_bytes / chunk_size_bytes + (size_bytes % chunk_size_bytes != 0 ? 1 : 0);
}

// Length of chunk `index` of a file of `size_bytes`; index < chunk_count(size_bytes).
[[nodiscard]] constexpr std::uint64_t chunk_length(std::uint64_t size_bytes, std::uint64_t index) {
  const std::uint64_t begin = index * chunk_size_bytes;
  return size_bytes - begin < chunk_size_bytes ? size_bytes - begin : chunk_size_bytes;
}

}  // namespace sabath

template <>
struct std::hash<sabath::Sha256> {
  std::size_t operator()(const sabath::Sha256& h) const noexcept {
    std::size_t v;
    std::memcpy(&v, h.bytes().data(), sizeof v);
    return v;
  }
};

template <>
struct std::hash<sabath::Digest> {
  std::size_t operator()(const sabath::Digest& d) const noexcept { return std::hash<sabath::Sha256>{}(d.hash); }
};
