// The bytes of a pack: the content of many small files in one file, and an index of it at the end. docs/store.md,
// "Packs". Pure; any thread. Parsed bytes are hostile until these checks pass: members do not overlap, leave no gap,
// and do not unpack to more than a chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sabath/digest.h"

namespace sabath {

enum class PackCodec : std::uint32_t { raw = 0, zstd = 1 };

struct PackMember {
  Digest digest;             // of the content
  std::uint64_t offset = 0;  // of the stored bytes, in the pack
  std::uint32_t stored_bytes = 0;
  PackCodec codec = PackCodec::raw;
  std::uint64_t xxh3 = 0;  // of the stored bytes
  friend bool operator==(const PackMember&, const PackMember&) = default;
};

inline constexpr std::string_view pack_magic = "sabpack1";  // the first bytes of the file
inline constexpr std::size_t pack_record_size = 64, pack_footer_size = 32;
inline constexpr std::uint64_t pack_member_max = chunk_size_bytes;  // bytes of one file
inline constexpr std::uint64_t pack_members_max = 1 << 20;
inline constexpr std::uint64_t pack_index_max = pack_members_max * pack_record_size + pack_footer_size;

struct PackFooter {
  std::uint64_t members = 0, index_offset = 0;
  [[nodiscard]] std::uint64_t index_bytes() const { return members * pack_record_size + pack_footer_size; }
};

// Sorts the members as the index has them, by hash; returns records and footer. Its SHA-256 is the pack's name.
[[nodiscard]] std::string encode_pack_index(std::vector<PackMember>& members, std::uint64_t index_offset);
// The last bytes of the file; nullopt if they are no footer of a file of this size.
[[nodiscard]] std::optional<PackFooter> try_parse_pack_footer(std::string_view bytes, std::uint64_t file_bytes);
[[nodiscard]] std::optional<PackMember> try_parse_pack_record(std::string_view record);  // sane by itself
// Records and footer of a pack of `file_bytes`. Throws Error{invalid} for what no writer would write.
[[nodiscard]] std::vector<PackMember> parse_pack_index(std::string_view index, std::uint64_t file_bytes);

// Unpacks into exactly content.size() == digest.size_bytes bytes; false if `stored` does not hold exactly that.
[[nodiscard]] bool try_unpack(const PackMember& member, std::span<const std::byte> stored,
                              std::span<std::byte> content);
// Whether these bytes are this content.
[[nodiscard]] bool is_content(std::span<const std::byte> content, const Digest& digest);

}  // namespace sabath
