// A set of a tape's pieces as bits, so that ranks can reduce theirs. A plain value.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sabath {

class PieceSet {
 public:
  PieceSet() = default;
  explicit PieceSet(std::size_t size) : size_(size), words_((size + 63) / 64) {}
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool has(std::size_t piece) const { return (words_[piece / 64] >> (piece % 64) & 1U) != 0; }
  void add(std::size_t piece) { words_[piece / 64] |= std::uint64_t{1} << (piece % 64); }
  void remove(std::size_t piece) { words_[piece / 64] &= ~(std::uint64_t{1} << (piece % 64)); }
  [[nodiscard]] std::size_t count() const {
    std::size_t all = 0;
    for (const auto word : words_) all += static_cast<std::size_t>(std::popcount(word));
    return all;
  }
  [[nodiscard]] std::span<std::uint64_t> words() { return words_; }  // to reduce; bits past size() stay 0
  friend bool operator==(const PieceSet&, const PieceSet&) = default;

 private:
  std::size_t size_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace sabath
