// Two messages in turn by the CPU's SHA extensions, compiled for them: a round waits for the one before it, and one
// stream leaves the unit idle half of the time. So a stream has room for each piece of it as well, which even has the
// same blocks.
#include "base/sha256/sha256_lanes.h"

#if defined(SABATH_SHA256_LANES)
#include <utility>

#include "base/sha256/sha256_extensions.h"

namespace sabath {
namespace {

struct Two {};
using Stream = Sha256Extensions<Two>;

template <std::size_t... T>
[[gnu::always_inline]] inline void all_rounds(Stream& one, Stream& other, std::index_sequence<T...>) {
  ((one.rounds<T>(), other.rounds<T>()), ...);
}

template <std::size_t... T>
[[gnu::always_inline]] inline void all_rounds_of_both(Stream& one, Stream& other, std::index_sequence<T...>) {
  (one.rounds<T>(other), ...);
}

// second: nullptr if both have the blocks at `first`
template <bool same>
void compress(Stream& one, Stream& other, const std::byte* first, const std::byte* second, std::size_t blocks) {
  using Sixteen = std::make_index_sequence<16>;
  for (Stream a = one, b = other;;) {  // in registers
    if (blocks-- == 0) {
      one = a;
      other = b;
      return;
    }
    a.begin_block(first);
    if constexpr (same) {
      b.begin_block();
      all_rounds_of_both(a, b, Sixteen{});
    } else {
      b.begin_block(second);
      all_rounds(a, b, Sixteen{});
      second += 64;
    }
    a.end_block();
    b.end_block();
    first += 64;
  }
}

void write(const Stream& stream, std::uint8_t* hash) {
  std::uint32_t words[8];
  stream.write(words);
  for (std::uint32_t& word : words) word = __builtin_bswap32(word);
  std::memcpy(hash, words, sizeof words);
}

}  // namespace

void sha256_2_lanes(const std::byte* const* messages, std::size_t size_bytes, std::uint8_t* hashes) noexcept {
  using End = Sha256End<Two>;
  Stream one(sha256_initial), other(sha256_initial);
  compress<false>(one, other, messages[0], messages[1], size_bytes / End::block_size);
  const End first(messages[0], size_bytes), second(messages[1], size_bytes);
  compress<false>(one, other, first.bytes, second.bytes, first.blocks);
  write(one, hashes);
  write(other, hashes + 32);
}

void sha256_1_along(std::uint32_t* words, const std::byte* bytes, std::size_t piece_size, std::uint8_t* hash) noexcept {
  using End = Sha256End<Two>;
  Stream stream(words), piece(sha256_initial);
  compress<true>(stream, piece, bytes, nullptr, piece_size / End::block_size);
  stream.write(words);
  const End end(bytes, piece_size);
  compress<true>(stream, piece, end.bytes, nullptr, end.blocks);  // the stream's state after this is not used
  write(piece, hash);
}

}  // namespace sabath
#endif
