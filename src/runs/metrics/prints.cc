// Lines of hand-written prints: the epoch with pairs behind it, and Python's logging with one pair:
//   Epoch: 3 | FT | Train Loss: 0.72994 | Val Loss: 0.66021
//   Train Epoch: 1 [640/60000 (1%)]  Loss: 2.300
//   Epoch[1] Iteration[20/100] Loss: 2.31
//   2020-09-26 03:13:12,345 INFO   val_loss: 0.123
//   FoM: 0.123
//   Epoch 001 loss 22.07 | Acc 13.5%
// "Epoch 00001: val_loss improved from inf to 0.4768" has no pair, and says nothing.
#include <array>

#include "base/text.h"
#include "metrics/formats.h"
#include "metrics/pairs.h"
#include "metrics/words.h"

namespace sabath {
namespace {

// Skips the text that a logger puts between level and message: "- ", in Loguru "    | module:function:42 - ".
void take_origin(std::string_view& text) {
  std::string_view rest = text;
  skip_blanks(rest);
  if (take_word(rest, "| ")) {
    const std::size_t dash = rest.find(" - ");
    if (dash != std::string_view::npos) text = rest.substr(dash + 3);
  } else if (take_word(rest, "- ")) {
    text = rest;
  }
}

// Takes "YYYY-MM-DD HH:MM:SS[,mmm] LEVEL ", also in brackets, or "LEVEL:module:" off the front of a logger's line.
// False: there is no such front, and `text` stays as it is.
bool take_logging(std::string_view& text) {
  for (const std::string_view level : {"INFO:", "DEBUG:", "WARNING:"}) {
    const std::size_t end = text.starts_with(level) ? text.find(':', level.size()) : std::string_view::npos;
    if (end == std::string_view::npos || text.substr(0, end).find(' ') != std::string_view::npos) continue;
    text.remove_prefix(end + 1);
    return true;
  }
  const std::string_view date = text.substr(text.starts_with('[') ? 1 : 0);
  if (date.size() < 24 || !is_digit(date[0]) || date[4] != date[7] || (date[4] != '-' && date[4] != '/')) return false;
  for (const std::string_view level : {" INFO ", " DEBUG ", " WARNING ", " INFO:", "[INFO]"}) {
    const std::size_t at = text.substr(0, 96).find(level);
    if (at == std::string_view::npos) continue;
    text.remove_prefix(at + level.size());
    take_origin(text);
    return true;
  }
  return false;
}

// "[640/60000 (1%)]", " Iteration[20/100]", ", Step [100/600]".
void take_place(std::string_view& text, Reading& reading) {
  std::string_view rest = text;
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == ',' || rest.front() == '|')) rest.remove_prefix(1);
  const std::size_t bracket = rest.find('[');
  if (bracket == std::string_view::npos) return;
  const std::string_view word = trim(rest.substr(0, bracket));
  if (!word.empty() && position_of_name(word) != 's') return;
  rest.remove_prefix(bracket + 1);
  skip_blanks(rest);
  const auto step = take_count(rest);
  const std::size_t end = rest.find(']');
  if (!step || !rest.starts_with('/') || end == std::string_view::npos) return;
  reading.step = static_cast<std::int64_t>(*step);
  text = rest.substr(end + 1);
}

bool take_epoch_line(std::string_view text, Trace& trace, Reading& reading) {
  skip_blanks(text);
  for (const std::string_view word : {"Train ", "Training ", "Test ", "Valid ", "Validation ", "End of "}) {
    if (take_word(text, word)) break;
  }
  const auto epoch = take_epoch(text);
  if (!epoch) return false;
  trace.epoch = reading.epoch = epoch->epoch;
  take_place(text, reading);
  if (!take_words(text, reading)) take_pairs(text, reading);
  reading.kind = reading.values.empty() ? Reading::Kind::state : Reading::Kind::values;
  return true;
}

// "val_loss: 0.123" and nothing else; "cuda version: 12.6" measures nothing.
void take_only_pair(std::string_view text, Reading& reading) {
  const std::size_t colon = text.rfind(": ");
  if (colon == std::string_view::npos || to_lower(trim(text.substr(0, colon))).ends_with("version")) return;
  std::string_view number = trim(text.substr(colon + 2));
  const Quantity quantity = take_quantity(number, writes_points(text));
  reading.doubtful = reading.doubtful || quantity.doubtful;
  if (quantity.found && number.empty()) take_pairs(text, reading);
}

// "Best result:", "Final scores:": the word that names the indented values below; empty: no such line.
std::string summary_of(std::string_view text) {
  constexpr std::size_t heading_max = 48;
  text = trim(text);
  if (text.size() > heading_max || !text.ends_with(':')) return {};
  const std::string lower = to_lower(text);
  for (const std::string_view word : {"best", "final", "summary", "overall"}) {
    if (lower.starts_with(word) && !is_letter(lower[word.size()])) return std::string(word);
  }
  return {};
}

// Values repeated at a run's end, perhaps counted in another way: figures of no epoch, "best val_loss", "best epoch".
bool take_summary(std::string_view text, Trace& trace, Reading& reading) {
  if (trace.summary.empty() || !text.starts_with("  ")) {
    trace.summary = summary_of(text);
    if (trace.summary.empty()) return false;
  } else {
    take_only_pair(trim(text), reading);
    for (Reading::Value& value : reading.values) value.group = trace.summary;
    if (reading.epoch) reading.values.push_back({trace.summary, "epoch", *reading.epoch});
    reading.epoch.reset();
    reading.step.reset();
  }
  reading.kind = reading.values.empty() ? Reading::Kind::state : Reading::Kind::values;
  return true;
}

void read_prints(std::string_view line, Trace& trace, Reading& reading) {
  std::string_view text = line;
  const bool logged = take_logging(text);
  // The level is followed by one blank of the format; what the program indented comes behind it.
  if (take_summary(text, trace, reading) || take_epoch_line(text, trace, reading)) return;
  if (logged || line.starts_with("FoM: ")) take_only_pair(trim(text), reading);
  if (logged) reading.kind = Reading::Kind::state;
  if (!reading.values.empty()) reading.kind = Reading::Kind::values;
}

}  // namespace

extern constexpr LogFormat prints_format{.name = "prints", .title = "prints", .read = read_prints};

}  // namespace sabath
