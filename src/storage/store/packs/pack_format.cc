#include "store/packs/pack_format.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "base/hash.h"
#include "base/wording.h"
#include "manifest/file_tree.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::string_view footer_magic = "sabpackf";

template <class T>
void put(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

template <class T>
T get(std::string_view bytes, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) value |= T{static_cast<std::uint8_t>(bytes[at + i])} << (8 * i);
  return value;
}

auto order(const PackMember& member) { return std::tie(member.digest.hash, member.digest.size_bytes); }

[[noreturn]] void refuse(const char* what) {
  throw Error(FailureKind::invalid, std::string("a pack's index ") + what,
              fmt::format("`{} {}` keeps what is right of it", verb_text("verify"), option_text("repair")));
}

// Members lie side by side, so every byte before the index belongs to one.
void check_tiling(const std::vector<PackMember>& members, std::uint64_t end) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> extents;
  extents.reserve(members.size());
  for (const auto& member : members) extents.emplace_back(member.offset, member.stored_bytes);
  std::ranges::sort(extents);
  std::uint64_t at = pack_magic.size();
  for (const auto& [offset, stored] : extents) {
    if (offset != at || stored > end - at) refuse("has a gap, or members that overlap");
    at += stored;
  }
  if (at != end) refuse("does not begin where its members end");
}

}  // namespace

std::string encode_pack_index(std::vector<PackMember>& members, std::uint64_t index_offset) {
  std::ranges::sort(members, {}, order);
  std::string out;
  out.reserve(members.size() * pack_record_size + pack_footer_size);
  for (const auto& member : members) {
    out.append(reinterpret_cast<const char*>(member.digest.hash.bytes().data()), Sha256::size);
    put(out, member.offset);
    put(out, member.xxh3);
    put(out, static_cast<std::uint32_t>(member.digest.size_bytes));
    put(out, member.stored_bytes);
    put(out, static_cast<std::uint32_t>(member.codec));
    put(out, std::uint32_t{0});
  }
  const std::size_t footer = out.size();
  put(out, std::uint64_t{members.size()});
  put(out, index_offset);
  out += footer_magic;
  put(out, xxh3_64(std::string_view(out).substr(footer)));
  return out;
}

std::optional<PackFooter> try_parse_pack_footer(std::string_view bytes, std::uint64_t file_bytes) {
  if (bytes.size() != pack_footer_size || bytes.substr(16, footer_magic.size()) != footer_magic) return std::nullopt;
  if (get<std::uint64_t>(bytes, 24) != xxh3_64(bytes.substr(0, 24))) return std::nullopt;
  const PackFooter footer{get<std::uint64_t>(bytes, 0), get<std::uint64_t>(bytes, 8)};
  if (footer.members > pack_members_max || footer.index_offset < pack_magic.size()) return std::nullopt;
  if (footer.index_bytes() > file_bytes || footer.index_offset != file_bytes - footer.index_bytes())
    return std::nullopt;
  return footer;
}

std::optional<PackMember> try_parse_pack_record(std::string_view record) {
  if (record.size() != pack_record_size) return std::nullopt;
  std::array<std::uint8_t, Sha256::size> hash{};
  std::memcpy(hash.data(), record.data(), hash.size());
  PackMember member;
  member.digest = {ContentKind::file, get<std::uint32_t>(record, 48), Sha256(hash)};
  member.offset = get<std::uint64_t>(record, 32);
  member.xxh3 = get<std::uint64_t>(record, 40);
  member.stored_bytes = get<std::uint32_t>(record, 52);
  const auto codec = get<std::uint32_t>(record, 56);
  if (codec > static_cast<std::uint32_t>(PackCodec::zstd) || get<std::uint32_t>(record, 60) != 0) return std::nullopt;
  member.codec = static_cast<PackCodec>(codec);
  const std::uint64_t size = member.digest.size_bytes;
  const bool sized = member.codec == PackCodec::raw ? member.stored_bytes == size : member.stored_bytes < size;
  if (size > pack_member_max || !sized || member.offset < pack_magic.size()) return std::nullopt;
  return member;
}

std::vector<PackMember> parse_pack_index(std::string_view index, std::uint64_t file_bytes) {
  if (index.size() < pack_footer_size) refuse("is too short");
  const auto footer = try_parse_pack_footer(index.substr(index.size() - pack_footer_size), file_bytes);
  if (!footer || footer->index_bytes() != index.size()) refuse("has no end that fits its file");
  std::vector<PackMember> members;
  members.reserve(footer->members);
  for (std::size_t i = 0; i < footer->members; ++i) {
    auto member = try_parse_pack_record(index.substr(i * pack_record_size, pack_record_size));
    if (!member) refuse("has a record that no writer makes");
    if (!members.empty() && order(members.back()) >= order(*member)) refuse("is not in order");
    members.push_back(*member);
  }
  check_tiling(members, footer->index_offset);
  return members;
}

bool try_unpack(const PackMember& member, std::span<const std::byte> stored, std::span<std::byte> content) {
  if (stored.size() != member.stored_bytes || content.size() != member.digest.size_bytes) return false;
  if (member.codec == PackCodec::raw) {
    if (stored.size() != content.size()) return false;
    if (!stored.empty()) std::memcpy(content.data(), stored.data(), stored.size());
    return true;
  }
  return ZSTD_decompress(content.data(), content.size(), stored.data(), stored.size()) == content.size();
}

bool is_content(std::span<const std::byte> content, const Digest& digest) {
  if (content.size() != digest.size_bytes || content.size() > chunk_size_bytes) return false;
  if (content.empty()) return digest == digest_of_chunks(0, {});
  return hash_chunk(content) == digest.hash;
}

}  // namespace sabath
