// The checksum of a tar header would keep a fuzzer out: it is put right. Pure.
#pragma once

#include <cstddef>
#include <span>

// One block of 512 bytes, as POSIX pax(1) has it: the sum of all bytes, its own eight taken for blanks.
inline void seal_tar_header(std::span<char, 512> block) {
  constexpr std::size_t at = 148, length = 8;
  unsigned sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    sum += i >= at && i < at + length ? static_cast<unsigned>(' ') : static_cast<unsigned char>(block[i]);
  }
  for (std::size_t i = 0; i < 6; ++i, sum >>= 3) block[at + 5 - i] = static_cast<char>('0' + (sum & 7));
  block[at + 6] = '\0';
  block[at + 7] = ' ';
}
