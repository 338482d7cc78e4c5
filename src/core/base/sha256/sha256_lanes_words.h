// Brings one block of as many messages as a vector register has 32-bit lanes into registers, a word of all messages in
// each. Part of sha256_lanes_kernel.h, by the same rules: included by each width's own .cc only. Pure, no errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sabath {

template <class Width>
class Sha256Words {
  using Vector = typename Width::Vector;
  using Bytes = typename Width::Bytes;
  using Unaligned [[gnu::aligned(1), gnu::may_alias]] = Vector;
  static constexpr std::size_t lanes = sizeof(Vector) / 4;
  template <std::size_t... I>
  using Indices = std::index_sequence<I...>;

 public:
  // Words [first, first + lanes) of one block of every message, transposed in registers: w[first + i] = word i.
  template <std::size_t first>
  [[gnu::always_inline]] static inline void load(Vector* w, const std::byte* const* messages, std::size_t offset) {
    constexpr std::size_t parts = lanes / 4;  // of 128 bits in a register: most shuffles stay inside them
    using Lane = std::make_index_sequence<lanes>;
    Vector row[lanes];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < lanes; ++i) {
      const Vector words = *reinterpret_cast<const Unaligned*>(messages[i] + offset + first * 4);
      row[i] = big_endian(words, std::make_index_sequence<sizeof(Vector)>{});
    }
    Vector column[4][parts];  // column[c][g]: word 4p + c of rows 4g .. 4g+3, in part p
#pragma GCC unroll 4
    for (std::size_t g = 0; g < parts; ++g) {
      const Vector* r = row + 4 * g;
      const Vector low01 = zip<1, 0>(r[0], r[1], Lane{}), low23 = zip<1, 0>(r[2], r[3], Lane{});
      const Vector high01 = zip<1, 1>(r[0], r[1], Lane{}), high23 = zip<1, 1>(r[2], r[3], Lane{});
      column[0][g] = zip<2, 0>(low01, low23, Lane{});
      column[1][g] = zip<2, 1>(low01, low23, Lane{});
      column[2][g] = zip<2, 0>(high01, high23, Lane{});
      column[3][g] = zip<2, 1>(high01, high23, Lane{});
    }
#pragma GCC unroll 4
    for (std::size_t c = 0; c < 4; ++c) {
      if constexpr (parts == 2) {
        w[first + c] = every_other<0>(column[c][0], column[c][1], Lane{});
        w[first + c + 4] = every_other<1>(column[c][0], column[c][1], Lane{});
      } else {
        const Vector even01 = every_other<0>(column[c][0], column[c][1], Lane{});
        const Vector even23 = every_other<0>(column[c][2], column[c][3], Lane{});
        const Vector odd01 = every_other<1>(column[c][0], column[c][1], Lane{});
        const Vector odd23 = every_other<1>(column[c][2], column[c][3], Lane{});
        w[c] = every_other<0>(even01, even23, Lane{});
        w[c + 4] = every_other<0>(odd01, odd23, Lane{});
        w[c + 8] = every_other<1>(even01, even23, Lane{});
        w[c + 12] = every_other<1>(odd01, odd23, Lane{});
      }
    }
  }

 private:
  template <std::size_t... I>
  [[gnu::always_inline]] static inline Vector big_endian(Vector x, Indices<I...>) {
    return (Vector)__builtin_shufflevector((Bytes)x, (Bytes)x, (I ^ 3)...);
  }

  // In each part of 128 bits: runs of `run` words of a's and b's low (half = 0) or high (1) 64 bits in turn.
  template <std::size_t run, std::size_t half, std::size_t... I>
  [[gnu::always_inline]] static inline Vector zip(Vector a, Vector b, Indices<I...>) {
    return __builtin_shufflevector(a, b,
                                   (I / 4 * 4 + half * 2 + I % 4 / (2 * run) * run + I % run + I / run % 2 * lanes)...);
  }

  // The even (which = 0) or odd (1) parts of 128 bits of a, then of b.
  template <std::size_t which, std::size_t... I>
  [[gnu::always_inline]] static inline Vector every_other(Vector a, Vector b, Indices<I...>) {
    return __builtin_shufflevector(a, b, ((I / 4 * 2 + which) * 4 + I % 4)...);
  }
};

}  // namespace sabath
