#include "support/seeded.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace sabath::test {
namespace {

// Eight bytes at a time, each a mix of seed and position (the finaliser of splitmix64).
std::uint64_t word_at(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15u + index + 1;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

void fill_seeded(std::uint64_t seed, std::uint64_t offset, std::span<char> bytes) {
  const auto byte_at = [&](std::size_t i) { return word_at(seed, (offset + i) / 8) >> ((offset + i) % 8 * 8); };
  std::size_t i = 0;
  for (; i < bytes.size() && (offset + i) % 8 != 0; ++i) bytes[i] = static_cast<char>(byte_at(i));
  for (; bytes.size() - i >= 8; i += 8) {
    const std::uint64_t word = word_at(seed, (offset + i) / 8);
    for (std::size_t b = 0; b < 8; ++b) bytes[i + b] = static_cast<char>(word >> (b * 8));
  }
  for (; i < bytes.size(); ++i) bytes[i] = static_cast<char>(byte_at(i));
}

std::string seeded_bytes(std::uint64_t seed, std::uint64_t offset, std::uint64_t length) {
  std::string bytes(length, '\0');
  fill_seeded(seed, offset, bytes);
  return bytes;
}

void write_seeded_file(const std::filesystem::path& path, std::uint64_t seed, std::uint64_t size) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  std::vector<char> piece(1024 * 1024);
  for (std::uint64_t offset = 0; offset < size; offset += piece.size()) {
    const std::span<char> part(piece.data(), std::min<std::uint64_t>(piece.size(), size - offset));
    fill_seeded(seed, offset, part);
    file.write(part.data(), static_cast<std::streamsize>(part.size()));
  }
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!(file << text).flush()) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace sabath::test
