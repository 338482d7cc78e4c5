// Packs: names, indexes, records, footers, members that are unpacked, and the map of packs that nodes tell each other.
// A pack lies on a shared disk, where anybody's crash may have left anything.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/error.h"
#include "store/disk/layout.h"
#include "store/pack_read.h"
#include "store/packs/pack_format.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check_index(std::string_view index, std::uint64_t file_bytes) {
  try {
    auto members = sabath::parse_pack_index(index, file_bytes);
    const std::uint64_t end = file_bytes - index.size();
    std::uint64_t bytes = 0;
    for (const auto& member : members) {
      check(member.digest.size_bytes <= sabath::pack_member_max && member.offset <= end &&
            member.stored_bytes <= end - member.offset);
      bytes += member.stored_bytes;
    }
    check(bytes + sabath::pack_magic.size() == end);
    check(sabath::encode_pack_index(members, end) == index);  // only what a writer would write
  } catch (const sabath::Error&) {}
}

// The footer's checksum would keep the fuzzer out: records of its making, with a right end.
void check_made_index(std::string_view bytes) {
  std::vector<sabath::PackMember> members;
  std::uint64_t end = sabath::pack_magic.size();
  for (; bytes.size() >= sabath::pack_record_size; bytes.remove_prefix(sabath::pack_record_size)) {
    const auto member = sabath::try_parse_pack_record(bytes.substr(0, sabath::pack_record_size));
    if (!member) continue;
    members.push_back(*member);
    end = std::max<std::uint64_t>(end, member->offset % (1ULL << 40) + member->stored_bytes);
  }
  const std::string index = sabath::encode_pack_index(members, end);
  check_index(index, end + index.size());
}

void check_unpacking(std::string_view bytes) {
  if (bytes.size() < 4) return;
  sabath::PackMember member;
  member.codec = (bytes[0] & 1) != 0 ? sabath::PackCodec::zstd : sabath::PackCodec::raw;
  member.digest.size_bytes = static_cast<std::uint8_t>(bytes[1]) * 256ULL + static_cast<std::uint8_t>(bytes[2]);
  const auto stored = std::as_bytes(std::span(bytes.substr(3)));
  member.stored_bytes = static_cast<std::uint32_t>(stored.size());
  std::vector<std::byte> content(member.digest.size_bytes);  // no more is ever written
  const bool unpacked = sabath::try_unpack(member, stored, content);
  if (unpacked && member.codec == sabath::PackCodec::raw) check(stored.size() == content.size());
}

void check_map(std::string_view bytes) {
  try {
    const auto map = sabath::PackMap::parse(bytes);
    for (const auto& place : map.places) {
      check(place.pack == sabath::PackMap::no_pack || place.pack < map.packs.size());
    }
  } catch (const sabath::Error&) {}
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_index(text, size + 100);
  check_made_index(text);
  check_unpacking(text);
  check_map(text);
  if (const auto name = sabath::try_parse_pack_name(text)) check(sabath::Layout("").pack(*name).filename() == text);
  return 0;
}
