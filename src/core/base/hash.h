// Hash functions over bytes: thin, allocation-free owners of OpenSSL and xxHash states. The only OpenSSL in src/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sabath/digest.h"
#include "sabath/recipe.h"

namespace sabath {

[[nodiscard]] Sha256 sha256(std::span<const std::byte> bytes);
[[nodiscard]] inline Sha256 sha256(std::string_view text) { return sha256(std::as_bytes(std::span(text))); }

// hashes[i] = SHA-256 of the i-th piece of `piece_size` bytes; the last piece may be shorter, none is empty.
// hashes.size() == ceil(bytes.size() / piece_size). Whole pieces are hashed side by side where the CPU gains by it.
void sha256_pieces(std::span<const std::byte> bytes, std::size_t piece_size, std::span<Sha256> hashes);

// hashes[i] = SHA-256 of messages[i]; as many hashes as messages. Neighbours of one length are hashed side by side.
void sha256_each(std::span<const std::span<const std::byte>> messages, std::span<Sha256> hashes);

// Sets how this process hashes several messages: "auto", by the quickest kernel here, measured when first needed; or a
// name of hash_kernels(), by that kernel. Call once, before anything is hashed. Throws Error{usage}.
void force_hash_kernel(std::string_view name);

struct HashKernels {
  std::string pieces, with_stream;  // the names of those in use; with_stream empty: stream and pieces each by itself
  std::vector<std::pair<std::string, double>> bytes_per_second;  // of all that this CPU has, as measured
  std::vector<std::string> wrong;                                // that gave wrong hashes, and are not used
};
[[nodiscard]] HashKernels hash_kernels();

// A streaming hash by OpenSSL's name: "md5", "sha256", "sha512".
class StreamHash {
 public:
  explicit StreamHash(const char* algorithm);
  void update(std::span<const std::byte> bytes);
  [[nodiscard]] std::string finish_hex();  // once
  [[nodiscard]] Sha256 finish_sha256();    // once; only for "sha256"

 private:
  struct Free {
    void operator()(void* context) const noexcept;
  };
  std::unique_ptr<void, Free> context_;
};

// SHA-256 of a stream that can take the hashes of its pieces along. Not thread-safe.
class StreamSha256 {
 public:
  StreamSha256();
  void update(std::span<const std::byte> bytes);
  // update(bytes) and sha256_pieces(bytes, piece_size, hashes).
  void update(std::span<const std::byte> bytes, std::size_t piece_size, std::span<Sha256> hashes);
  [[nodiscard]] Sha256 finish();                   // once
  [[nodiscard]] static bool takes_pieces_along();  // it costs less here than the two by themselves

 private:
  struct Free {
    void operator()(void* context) const noexcept;
  };
  std::unique_ptr<void, Free> context_;
};

// git's SHA-1 of a file: of "blob SIZE", a NUL and its bytes.
[[nodiscard]] StreamHash git_blob_hash(std::uint64_t size_bytes);

enum class SaidBy { recipe, source };  // who says which checksum a file has

// The whole-file checksums that are published of it, computed side by side as the bytes pass.
class ChecksumSet {
 public:
  // `size_bytes`: of the file. Without it git's name of it is not compared.
  explicit ChecksumSet(const Checksums& expected, std::optional<std::uint64_t> size_bytes = std::nullopt);
  void update(std::span<const std::byte> bytes);
  // update(bytes) and sha256_pieces(bytes, piece_size, hashes).
  void update(std::span<const std::byte> bytes, std::size_t piece_size, std::span<Sha256> hashes);
  // Throws Error{content} naming the algorithm, both values and `what`; returns the computed checksums.
  Checksums finish_and_compare(std::string_view what, SaidBy by = SaidBy::recipe);
  [[nodiscard]] bool empty() const { return expected_.empty(); }

 private:
  void update_others(std::span<const std::byte> bytes);  // than SHA-256
  Checksums expected_;
  std::unique_ptr<StreamSha256> sha256_;
  std::vector<std::pair<const ChecksumAlgorithm*, StreamHash>> others_;
};

// XXH3: guards bytes in flight and journal records; never names content.
[[nodiscard]] std::uint64_t xxh3_64(std::span<const std::byte> bytes) noexcept;
[[nodiscard]] inline std::uint64_t xxh3_64(std::string_view text) noexcept {
  return xxh3_64(std::as_bytes(std::span(text)));
}

}  // namespace sabath
