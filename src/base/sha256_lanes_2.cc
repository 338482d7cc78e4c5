// Two messages in turn by the CPU's SHA extensions, compiled for them: a round waits for the one before it, and one
// stream leaves the unit idle half of the time. By the rules of sha256_lanes_end.h; what the instructions do:
// Intel SDM volume 2, SHA256RNDS2, SHA256MSG1, SHA256MSG2.
#include "base/sha256_lanes.h"

#if defined(SABATH_SHA256_LANES)
#include <immintrin.h>

#include "base/sha256_lanes_end.h"

namespace sabath {
namespace {

class Stream {
 public:
  [[gnu::always_inline]] inline Stream() {
    const __m128i dcba = load(sha256_initial), hgfe = load(sha256_initial + 4);
    const __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    abef_ = _mm_alignr_epi8(cdab, efgh, 8);
    cdgh_ = _mm_blend_epi16(efgh, cdab, 0xf0);
  }

  [[gnu::always_inline]] inline void begin_block(const std::byte* block) {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    for (std::size_t i = 0; i < 4; ++i) words_[i] = _mm_shuffle_epi8(load(block + 16 * i), big_endian);
    abef_before_ = abef_;
    cdgh_before_ = cdgh_;
  }

  // Rounds 4t to 4t + 3; words_[t % 4] then becomes those of sixteen rounds later.
  template <std::size_t t>
  [[gnu::always_inline]] inline void rounds() {
    __m128i& words = words_[t % 4];
    const __m128i sum = _mm_add_epi32(words, load(sha256_constants + 4 * t));
    cdgh_ = _mm_sha256rnds2_epu32(cdgh_, abef_, sum);
    abef_ = _mm_sha256rnds2_epu32(abef_, cdgh_, _mm_shuffle_epi32(sum, 0x0e));
    if constexpr (t < 12) {
      const __m128i last = words_[(t + 3) % 4], middle = _mm_alignr_epi8(last, words_[(t + 2) % 4], 4);
      words = _mm_add_epi32(_mm_sha256msg1_epu32(words, words_[(t + 1) % 4]), middle);
      words = _mm_sha256msg2_epu32(words, last);
    }
  }

  [[gnu::always_inline]] inline void end_block() {
    abef_ = _mm_add_epi32(abef_, abef_before_);
    cdgh_ = _mm_add_epi32(cdgh_, cdgh_before_);
  }

  [[gnu::always_inline]] inline void write(std::uint8_t* hash) const {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const __m128i feba = _mm_shuffle_epi32(abef_, 0x1b), dchg = _mm_shuffle_epi32(cdgh_, 0xb1);
    const __m128i dcba = _mm_blend_epi16(feba, dchg, 0xf0), hgfe = _mm_alignr_epi8(dchg, feba, 8);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(hash), _mm_shuffle_epi8(dcba, big_endian));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(hash + 16), _mm_shuffle_epi8(hgfe, big_endian));
  }

 private:
  [[gnu::always_inline]] static inline __m128i load(const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  }
  __m128i abef_, cdgh_, abef_before_, cdgh_before_;
  __m128i words_[4];
};

template <std::size_t... T>
[[gnu::always_inline]] inline void all_rounds(Stream& one, Stream& other, std::index_sequence<T...>) {
  ((one.rounds<T>(), other.rounds<T>()), ...);
}

void compress(Stream& one, Stream& other, const std::byte* first, const std::byte* second, std::size_t blocks) {
  for (Stream a = one, b = other;;) {  // in registers
    if (blocks-- == 0) {
      one = a;
      other = b;
      return;
    }
    a.begin_block(first);
    b.begin_block(second);
    all_rounds(a, b, std::make_index_sequence<16>{});
    a.end_block();
    b.end_block();
    first += 64;
    second += 64;
  }
}

}  // namespace

void sha256_2_lanes(const std::byte* const* messages, std::size_t size_bytes, std::uint8_t* hashes) noexcept {
  using End = Sha256End<Stream>;
  Stream one, other;
  compress(one, other, messages[0], messages[1], size_bytes / End::block_size);
  const End first(messages[0], size_bytes), second(messages[1], size_bytes);
  compress(one, other, first.bytes, second.bytes, first.blocks);
  one.write(hashes);
  other.write(hashes + 32);
}

}  // namespace sabath
#endif
