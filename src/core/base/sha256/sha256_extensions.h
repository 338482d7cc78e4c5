// SHA-256 of one stream by the CPU's SHA extensions, in steps that others' instructions may come between. By the rules
// of sha256_lanes_kernel.h: included only by .cc files that are compiled for it, `Unit` a local type of each. The
// instructions: Intel SDM volume 2, SHA256RNDS2, SHA256MSG1, SHA256MSG2. Pure, no errors.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "base/sha256/sha256_lanes_end.h"

namespace sabath {

template <class Unit>
class Sha256Extensions {
 public:
  // words: a to h, of eight times 32 bits
  [[gnu::always_inline]] inline explicit Sha256Extensions(const std::uint32_t* words) {
    const __m128i dcba = load(words), hgfe = load(words + 4);
    const __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    abef_ = _mm_alignr_epi8(cdab, efgh, 8);
    cdgh_ = _mm_blend_epi16(efgh, cdab, 0xf0);
  }

  [[gnu::always_inline]] inline void begin_block(const std::byte* block) {
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    for (std::size_t i = 0; i < 4; ++i) words_[i] = _mm_shuffle_epi8(load(block + 16 * i), big_endian);
    begin_block();
  }
  [[gnu::always_inline]] inline void begin_block() {  // of another stream, whose rounds are this one's as well
    abef_before_ = abef_;
    cdgh_before_ = cdgh_;
  }

  // Rounds 4t to 4t + 3, of `others` too, whose block is the same; words_[t % 4] then becomes those of sixteen rounds
  // later.
  template <std::size_t t, class... Others>
  [[gnu::always_inline]] inline void rounds(Others&... others) {
    __m128i& words = words_[t % 4];
    const __m128i sum = _mm_add_epi32(words, load(sha256_constants + 4 * t));
    four_rounds(sum);
    (others.four_rounds(sum), ...);
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

  [[gnu::always_inline]] inline void write(std::uint32_t* words) const {
    const __m128i feba = _mm_shuffle_epi32(abef_, 0x1b), dchg = _mm_shuffle_epi32(cdgh_, 0xb1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(words), _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(words + 4), _mm_alignr_epi8(dchg, feba, 8));
  }

 private:
  [[gnu::always_inline]] static inline __m128i load(const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  }
  [[gnu::always_inline]] inline void four_rounds(__m128i sum) {
    cdgh_ = _mm_sha256rnds2_epu32(cdgh_, abef_, sum);
    abef_ = _mm_sha256rnds2_epu32(abef_, cdgh_, _mm_shuffle_epi32(sum, 0x0e));
  }

  __m128i abef_, cdgh_, abef_before_, cdgh_before_;
  __m128i words_[4];
};

}  // namespace sabath
