#include "metrics/pairs.h"

#include <algorithm>
#include <array>

#include "base/number.h"
#include "base/text.h"
#include "metrics/char_set.h"
#include "metrics/words.h"

namespace sabath {
namespace {

constexpr std::size_t name_length_max = 64;
constexpr std::ptrdiff_t name_blanks_max = 4;
constexpr CharSet in_names(" _-./@%()[]0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
constexpr CharSet behind_numbers(" ,;|)]}\t"), between_pairs(",;|\t{"), before_pairs(" ,:|;-\t)]"), separators(":=");

// Words that a metric's name has in it: whole, or as the end of a word such as "nll_loss" or "trainloss".
constexpr std::array<std::string_view, 24> metric_words{
    "loss", "acc", "accuracy", "top1", "error", "err",  "mae", "mse", "rmse",       "iou",    "miou",  "map",
    "f1",   "auc", "dice",     "psnr", "ssim",  "bleu", "wer", "ppl", "perplexity", "reward", "score", "acc1"};
// Words of a sentence: a line with one is no list of values.
constexpr std::array<std::string_view, 14> sentence_words{"from", "to",   "in",  "with", "by",    "of",   "is",
                                                          "was",  "took", "the", "and",  "after", "than", "at"};

bool is_metric_word(std::string_view word) {
  const std::string lower = to_lower(word);
  return is_among(std::string_view(lower), metric_words) || lower.ends_with("loss");
}

// "9900/10000 (99%)": the value is the number in brackets.
std::optional<double> take_share(std::string_view& text) {
  std::string_view rest = text;
  if (!take_count(rest) || !take_word(rest, "/") || !take_count(rest)) return std::nullopt;
  skip_blanks(rest);
  if (!take_word(rest, "(")) return std::nullopt;
  skip_blanks(rest);
  const auto share = take_number(rest);
  if (!share || !take_word(rest, "%)")) return std::nullopt;
  text = rest;
  return share;
}

// The number behind a separator; of a position also "3/100".
Quantity take_value(std::string_view& text, bool grouped, bool position) {
  std::string_view rest = text;
  const auto count = position ? take_count(rest) : std::nullopt;
  if (count && take_word(rest, "/") && take_count(rest) && (rest.empty() || behind_numbers.has(rest.front()))) {
    text = rest;
    return {*count, true, false};
  }
  if (const auto share = position ? std::nullopt : take_share(text)) return {*share, true, false};
  return take_quantity(text, grouped);
}

// "0.50 (0.48)": the number in brackets is the average of the value.
void take_average(std::string_view& text, std::string_view group, std::string_view name, bool grouped,
                  Reading& reading) {
  std::string_view rest = text;
  skip_blanks(rest);
  if (!take_word(rest, "(")) return;
  skip_blanks(rest);
  const Quantity average = take_quantity(rest, grouped);
  skip_blanks(rest);
  if (!average.found || !take_word(rest, ")")) return;
  reading.values.push_back({group, reading.made.emplace_back(std::string(name) + " avg"), average.value});
  text = rest;
}

// The name in front of the separator: behind the last thing that cannot be part of one.
std::string_view name_before(std::string_view text) {
  text = trim(text.substr(text.size() - std::min(text.size(), 2 * name_length_max)));
  std::size_t begin = between_pairs.last_in(text);
  begin = begin == std::string_view::npos ? 0 : begin + 1;
  for (const std::string_view mark : {" - ", "  "}) {
    const std::size_t at = text.rfind(mark);
    if (at != std::string_view::npos) begin = std::max(begin, at + mark.size());
  }
  return trim(text.substr(begin));
}

std::string_view group_of(std::string_view text) {
  const std::size_t end = text.find('|');
  if (end == std::string_view::npos) return {};
  const std::string_view cell = trim(text.substr(0, end));
  return is_metric_name(cell) && cell.find(' ') == std::string_view::npos ? cell : std::string_view{};
}

void add(std::string_view group, std::string_view name, double value, std::string_view digits, Reading& reading) {
  const char position = position_of_name(name);
  if (position == 'e' || position == 's') reading.place(position, value, digits);
  if (position == '\0' || position == 'r') reading.values.push_back({group, name, value});
}

bool begins_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+') || text.starts_with('.')) text.remove_prefix(1);
  return !text.empty() && (is_digit(text.front()) || text.starts_with("nan") || text.starts_with("inf"));
}

// The words in front of a number; empty: a sentence, or nothing.
std::string_view take_name(std::string_view& text) {
  const std::string_view begin = text;
  std::size_t length = 0;
  for (int words = 0; !text.empty() && !begins_number(text); ++words) {
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    if (words > name_blanks_max || word.size() > name_length_max || is_among(word, sentence_words)) return {};
    length = static_cast<std::size_t>(word.data() - begin.data()) + word.size();
    text.remove_prefix(word.size());
    skip_blanks(text);
  }
  std::string_view name = begin.substr(0, length);
  while (!name.empty() && (separators.has(name.back()) || name.back() == ' ')) name.remove_suffix(1);
  return text.empty() || !is_metric_name(name) ? std::string_view{} : name;
}

}  // namespace

bool has_metric_word(std::string_view name) {
  while (!name.empty()) {
    std::size_t end = 0;
    while (end < name.size() && (is_letter(name[end]) || is_digit(name[end]))) ++end;
    if (end > 0 && is_metric_word(name.substr(0, end))) return true;
    name.remove_prefix(std::min(name.size(), end + 1));
  }
  return false;
}

bool is_metric_name(std::string_view text) {
  if (text.empty() || text.size() > name_length_max || !(is_letter(text.front()) || text.front() == '_')) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return in_names.has(c) || static_cast<unsigned char>(c) >= 0x80; }) &&
         std::count(text.begin(), text.end(), ' ') <= name_blanks_max;
}

void take_pairs(std::string_view text, Reading& reading) {
  while (!text.empty() && before_pairs.has(text.front())) text.remove_prefix(1);
  const std::string_view group = group_of(text);
  const bool grouped = writes_points(text);
  std::string_view before = text;  // from the end of the last pair
  std::size_t at = 0;
  while ((at = separators.first_in(text, at)) != std::string_view::npos) {
    const std::size_t length = static_cast<std::size_t>(text.data() - before.data()) + at;
    const std::string_view name = name_before(before.substr(0, length));
    std::string_view rest = text.substr(at + 1);
    skip_blanks(rest);
    take_wrapper(rest);
    const std::string_view begin = rest;
    const char position = position_of_name(name);
    const Quantity number = is_metric_name(name) ? take_value(rest, grouped, position == 's') : Quantity{};
    reading.doubtful = reading.doubtful || number.doubtful;
    if (!number.found) {
      // Skips digits that are no number, and reads the rest of the line.
      const bool digits = is_metric_name(name) && begins_number(begin);
      if (digits) text = before = begin.substr(std::min(begin.find_first_of(" |;\t"), begin.size()));
      at = digits ? 0 : at + 1;
      continue;
    }
    add(group, name, number.value, begin.substr(0, begin.size() - rest.size()), reading);
    if (position == '\0') take_average(rest, group, name, grouped, reading);
    text = before = rest;
    at = 0;
  }
}

bool take_words(std::string_view text, Reading& reading) {
  const auto epoch = reading.epoch;
  const auto step = reading.step;
  const std::size_t values = reading.values.size(), made = reading.made.size();
  const bool grouped = writes_points(text);
  bool metric = false, understood = true;
  while (understood) {
    while (!text.empty() && before_pairs.has(text.front()) && !begins_number(text)) text.remove_prefix(1);
    if (text.empty()) break;
    const std::string_view name = take_name(text);
    const std::string_view begin = text;
    const Quantity number = name.empty() ? Quantity{} : take_value(text, grouped, position_of_name(name) == 's');
    reading.doubtful = reading.doubtful || (number.doubtful && has_metric_word(name));
    understood = number.found;
    if (!understood) break;
    metric = metric || has_metric_word(name);
    add({}, name, number.value, begin.substr(0, begin.size() - text.size()), reading);
    if (position_of_name(name) == '\0') take_average(text, {}, name, grouped, reading);
  }
  if (understood && metric) return true;
  reading.epoch = epoch;
  reading.step = step;
  reading.values.resize(values);
  reading.made.resize(made);
  return false;
}

bool looks_like_metrics(std::string_view line) {
  constexpr std::size_t gap_max = 8;
  constexpr CharSet between(" \t:=|(['\"");
  // Each number with a point or a comma, and the word in front of it.
  for (std::size_t at = line.find_first_of(".,"); at != std::string_view::npos; at = line.find_first_of(".,", at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && (is_digit(line[begin - 1]) || line[begin - 1] == '-')) --begin;
    if (begin == at || at + 1 == line.size() || !is_digit(line[at + 1])) continue;
    std::size_t end = begin;
    while (end > 0 && begin - end < gap_max && between.has(line[end - 1])) --end;
    std::size_t first = end;
    while (first > 0 && (is_letter(line[first - 1]) || is_digit(line[first - 1]))) --first;
    if (end < begin && first < end && is_metric_word(line.substr(first, end - first))) return true;
  }
  return false;
}

}  // namespace sabath
