// The small pieces that log formats share. Pure; any thread; no throw.
#pragma once

#include <optional>
#include <string_view>

#include "base/text.h"

namespace sabath {

inline void skip_blanks(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}
inline bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}
[[nodiscard]] inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// A number at the front, which it is taken from; of `grouped` see printed_number().
[[nodiscard]] std::optional<double> take_number(std::string_view& text, bool grouped = false) noexcept;
// A number with its unit, which scales it ("1.2k" is 1200), up to where something else may begin.
struct Quantity {
  double value = 0;
  bool found = false;
  bool doubtful = false;  // not found, because its comma may mean either
};
[[nodiscard]] Quantity take_quantity(std::string_view& text, bool grouped) noexcept;
// A whole number without sign.
[[nodiscard]] std::optional<double> take_count(std::string_view& text) noexcept;

// "tensor(", "np.float64(" in front of a number: Python's names for it.
inline bool take_wrapper(std::string_view& text) {
  const std::string_view begin = text;
  if (take_word(text, "tensor(")) return true;
  const bool numpy = take_word(text, "np.float") || take_word(text, "numpy.float");
  while (numpy && !text.empty() && is_digit(text.front())) text.remove_prefix(1);
  if (numpy && take_word(text, "(")) return true;
  text = begin;
  return false;
}

// "46s", "358ms", "884us", "1:02", "00:03:12" at the front, in seconds.
[[nodiscard]] std::optional<double> take_duration(std::string_view& text) noexcept;

// "Epoch 3", "epoch: 3/10", "Epoch [3/10]", "[Epoch 3]", "epoch=3" at the front.
struct EpochWords {
  double epoch = 0;
  std::optional<double> total;
};
[[nodiscard]] std::optional<EpochWords> take_epoch(std::string_view& text) noexcept;

// epoch, epoch_num: 'e'; step, global_step, batch, iteration: 's'; rank: 'r'; anything else: '\0'. Case does not
// matter.
[[nodiscard]] char position_of_name(std::string_view name) noexcept;

}  // namespace sabath
