#include "fetch/transfer/pieces.h"

#include <algorithm>
#include <string_view>

#include "base/hash.h"

namespace sabath {

bool pieces_match(const PieceHashes& pieces, std::uint64_t size_bytes, std::uint64_t offset,
                  std::span<const std::byte> bytes) {
  if (pieces.length == 0) return true;
  const ChecksumAlgorithm* algorithm = find_checksum_algorithm(pieces.algorithm);
  if (algorithm == nullptr) return true;
  const std::size_t digits = algorithm->digits;
  const std::uint64_t count = pieces.hex.size() / digits;
  const std::uint64_t first = offset / pieces.length + (offset % pieces.length != 0 ? 1 : 0);
  for (std::uint64_t piece = first; piece < count; ++piece) {
    const std::uint64_t begin = piece * pieces.length;
    const std::uint64_t end = begin + std::min(pieces.length, size_bytes - std::min(begin, size_bytes));
    if (end > offset + bytes.size() || begin >= end) break;
    StreamHash hash(pieces.algorithm.c_str());
    hash.update(bytes.subspan(begin - offset, end - begin));
    if (hash.finish_hex() != std::string_view(pieces.hex).substr(piece * digits, digits)) return false;
  }
  return true;
}

}  // namespace sabath
