// SHA-256 (FIPS 180-4) of as many messages of one length as a vector register, or two, has 32-bit lanes: lane i of
// every register belongs to message i. Written once over a compiler's vector type; each width's own .cc is compiled
// with its instruction set, and is the only one that includes this. Everything here is a member of a template over that
// file's local type: no function compiled for a newer CPU can become another file's copy. So nothing of the standard
// library is called. Pure, any thread, no errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/sha256/sha256_lanes_end.h"
#include "base/sha256/sha256_lanes_words.h"

namespace sabath {

// Width: `Vector` of 32-bit lanes, `Bytes` of the same size, and the functions of three inputs, which some CPUs have as
// one instruction: exclusive_or, choose, majority.
//
// `sets` registers of messages go through each round one after the other: a round waits for the one before it, and a
// CPU that looks far enough ahead does the other set's meanwhile.
template <class Width, std::size_t sets>
class Sha256Lanes {
  using Vector = typename Width::Vector;
  static constexpr std::size_t lanes_of_set = sizeof(Vector) / 4, lanes = sets * lanes_of_set;
  static constexpr std::size_t block_size = Sha256End<Width>::block_size;
  using State = Vector[sets][8];      // the words a to h
  using Schedule = Vector[sets][16];  // rolled: word t replaces word t - 16
  template <std::size_t... I>
  using Indices = std::index_sequence<I...>;

 public:
  // messages: `lanes` addresses, any alignment, of size_bytes each. hashes: lanes x 32 bytes. along.beside<t>() is
  // called with each round t of whole blocks.
  template <class Along = Sha256Alone<Width>>
  static void hash(const std::byte* const* messages, std::size_t size_bytes, std::uint8_t* hashes, Along&& along = {}) {
    State state;
    for (auto& of_set : state) {
      for (std::size_t i = 0; i < 8; ++i) of_set[i] = Vector{} + sha256_initial[i];
    }
    const std::byte* at[lanes];
    for (std::size_t i = 0; i < lanes; ++i) at[i] = messages[i];
    const std::size_t blocks = size_bytes / block_size;
    compress(state, at, blocks, along);

    Sha256End<Width> ends[lanes];
    for (std::size_t i = 0; i < lanes; ++i) {
      ends[i] = Sha256End<Width>(messages[i], size_bytes);
      at[i] = ends[i].bytes;
    }
    Sha256Alone<Width> alone;
    compress(state, at, ends[0].blocks, alone);
    write(state, hashes);
  }

 private:
  static void write(const State& state, std::uint8_t* hashes) {
    for (std::size_t i = 0; i < lanes; ++i) {
      for (std::size_t word = 0; word < 8; ++word) {
        const std::uint32_t value = __builtin_bswap32(state[i / lanes_of_set][word][i % lanes_of_set]);
        std::memcpy(hashes + i * 32 + word * 4, &value, sizeof value);
      }
    }
  }

  template <class Along>
  static void compress(State& state, const std::byte* const* messages, std::size_t blocks, Along& shared) {
    Along along = shared;  // in registers
    using Sixteen = std::make_index_sequence<16>;
    State s;
    std::memcpy(s, state, sizeof s);
    for (std::size_t block = 0; block < blocks; ++block) {
      Schedule w;
      for (std::size_t i = 0; i < sets; ++i) load(w[i], messages + i * lanes_of_set, block * block_size);
      State before;
      std::memcpy(before, s, sizeof s);
      rounds<false>(s, w, sha256_constants, along, Sixteen{});
      for (std::size_t t = 16; t < 64; t += 16) rounds<true>(s, w, sha256_constants + t, along, Sixteen{});
#pragma GCC unroll 2
      for (std::size_t i = 0; i < sets; ++i) {
#pragma GCC unroll 8
        for (std::size_t word = 0; word < 8; ++word) s[i][word] += before[i][word];
      }
    }
    std::memcpy(state, s, sizeof s);
    shared = along;
  }

  // Not inline: in a loop of its own all of a set's loads are begun at once, and 32 lanes are a tenth faster.
  [[gnu::noinline]] static void load(Vector* w, const std::byte* const* messages, std::size_t offset) {
    Sha256Words<Width>::template load<0>(w, messages, offset);
    if constexpr (lanes_of_set == 8) Sha256Words<Width>::template load<8>(w, messages, offset);
  }

  template <bool expands, class Along, std::size_t... T>
  [[gnu::always_inline]] static inline void rounds(State& s, Schedule& w, const std::uint32_t* k, Along& along,
                                                   Indices<T...>) {
    ((along.template beside<T>(), round_of_sets<expands, T>(s, w, k)), ...);
  }

  template <bool expands, std::size_t t>
  [[gnu::always_inline]] static inline void round_of_sets(State& s, Schedule& w, const std::uint32_t* k) {
    if constexpr (expands) {
#pragma GCC unroll 2
      for (std::size_t i = 0; i < sets; ++i) expand_word<t>(w[i]);
    }
#pragma GCC unroll 2
    for (std::size_t i = 0; i < sets; ++i) round<t>(s[i], w[i], k);
  }

  template <std::size_t t>
  [[gnu::always_inline]] static inline void expand_word(Vector* w) {
    w[t] += small1(w[(t + 14) % 16]) + w[(t + 9) % 16] + small0(w[(t + 1) % 16]);
  }

  // The state's words stay where they are; their names move on by one each round.
  template <std::size_t t>
  [[gnu::always_inline]] static inline void round(Vector* s, Vector* w, const std::uint32_t* k) {
    constexpr std::size_t a = (16 - t) % 8, b = (a + 1) % 8, c = (a + 2) % 8, d = (a + 3) % 8;
    constexpr std::size_t e = (a + 4) % 8, f = (a + 5) % 8, g = (a + 6) % 8, h = (a + 7) % 8;
    const Vector sum = (s[h] + (w[t] + k[t]) + Width::choose(s[e], s[f], s[g])) + big1(s[e]);
    s[d] += sum;
    s[h] = sum + (Width::majority(s[a], s[b], s[c]) + big0(s[a]));
  }

  template <int n>
  [[gnu::always_inline]] static inline Vector rotated(Vector x) {
    return x >> n | x << (32 - n);
  }
  [[gnu::always_inline]] static inline Vector big0(Vector x) {
    return Width::exclusive_or(rotated<2>(x), rotated<13>(x), rotated<22>(x));
  }
  [[gnu::always_inline]] static inline Vector big1(Vector x) {
    return Width::exclusive_or(rotated<6>(x), rotated<11>(x), rotated<25>(x));
  }
  [[gnu::always_inline]] static inline Vector small0(Vector x) {
    return Width::exclusive_or(rotated<7>(x), rotated<18>(x), x >> 3);
  }
  [[gnu::always_inline]] static inline Vector small1(Vector x) {
    return Width::exclusive_or(rotated<17>(x), rotated<19>(x), x >> 10);
  }
};

}  // namespace sabath
