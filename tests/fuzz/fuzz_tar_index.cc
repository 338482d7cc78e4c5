// Headers of a tar come from servers, its index from a shared disk: for any bytes, the result names files inside the
// archive, under names that stay below their directory, or there is an Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/text.h"
#include "fetch/remote_tar/remote_tar_index.h"
#include "sabath/error.h"
#include "tar_seal.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check_index(const sabath::TarIndex& index) {
  std::set<std::string> names;
  for (const auto& entry : index.entries()) {
    check(sabath::RelativePath::try_parse(entry.path.text()).has_value());
    check(names.insert(entry.path.text()).second);
    check(entry.offset <= index.size_bytes() && entry.size_bytes <= index.size_bytes() - entry.offset);
    if (entry.type == sabath::EntryType::symlink) check(sabath::symlink_stays_inside(entry.path, entry.target));
  }
  const std::string bytes = index.encode();
  const auto again = sabath::TarIndex::try_decode("a.tar", bytes);
  check(again && again->encode() == bytes);
}

void walk(std::string_view tar) {
  const auto bytes = std::as_bytes(std::span(tar));
  const sabath::TarRead read = [&](std::uint64_t offset, std::size_t length) {
    check(offset <= bytes.size() && length <= bytes.size() - offset);
    return bytes.subspan(offset, length);
  };
  sabath::TarIndex index("a.tar", tar.size(), {"\"1\"", ""});
  try {
    while (const auto member = sabath::read_tar_member("a.tar", read, index.next(), tar.size())) {
      check(member->next > index.next() && member->next <= tar.size());
      index.add(*member);
    }
    index.end();
  } catch (const sabath::Error& error) {
    check(error.failure().kind == sabath::FailureKind::invalid && sabath::is_utf8(error.failure().message));
  }
  check_index(index);
}

void walk_sealed(std::string tar) {
  constexpr std::size_t block = sabath::tar_block_size;
  for (std::size_t begin = 0; begin + block <= tar.size(); begin += block) {
    seal_tar_header(std::span(tar).subspan(begin).first<block>());
  }
  walk(tar);
}

// So would that of an index.
void decode_sealed(std::string_view body) {
  std::uint64_t sum = sabath::xxh3_64(body);
  std::string bytes;
  for (int i = 0; i < 8; ++i, sum >>= 8) bytes.push_back(static_cast<char>(sum & 0xff));
  bytes += body;
  if (const auto index = sabath::TarIndex::try_decode("a.tar", bytes)) {
    check(index->encode() == bytes || !index->complete());  // one of 0.1 may have ended too early
    check_index(*index);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  walk(text);
  walk_sealed(std::string(text));
  (void)sabath::TarIndex::try_decode("a.tar", text);
  decode_sealed(text);
  (void)sabath::packed_as(std::as_bytes(std::span(text)));
  return 0;
}
