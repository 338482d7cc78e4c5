// Sixteen leaves and the stream that they stand in, in the same instructions: the stream is one chain, and leaves
// nearly all of the core to the leaves. Compiled for AVX-512 F and BW and the SHA extensions.
#include "base/sha256/sha256_lanes.h"

#if defined(SABATH_SHA256_LANES)
#include "base/sha256/sha256_extensions.h"
#include "base/sha256/sha256_lanes_512.h"
#include "base/sha256/sha256_lanes_kernel.h"

namespace sabath {
namespace {

struct Along {};
using Width = Sha256Width512<Along>;

// A sixteenth as much as the lanes' rounds bring is a quarter of a block: sixteen blocks of it for one block of each.
struct Beside {
  Sha256Extensions<Along> stream;
  const std::byte* at;

  template <std::size_t round>
  [[gnu::always_inline]] inline void beside() {
    constexpr std::size_t first = round % 4 * 4;
    if constexpr (first == 0) stream.begin_block(at);
    stream.rounds<first>();
    stream.rounds<first + 1>();
    stream.rounds<first + 2>();
    stream.rounds<first + 3>();
    if constexpr (first == 12) {
      stream.end_block();
      at += 64;
    }
  }
};

}  // namespace

void sha256_16_along(std::uint32_t* words, const std::byte* bytes, std::size_t piece_size,
                     std::uint8_t* hashes) noexcept {
  const std::byte* pieces[16];
  for (std::size_t i = 0; i < 16; ++i) pieces[i] = bytes + i * piece_size;
  Beside beside{Sha256Extensions<Along>(words), bytes};
  Sha256Lanes<Width, 1>::hash(pieces, piece_size, hashes, beside);
  beside.stream.write(words);
}

}  // namespace sabath
#endif
