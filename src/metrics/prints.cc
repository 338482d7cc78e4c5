// What people print: a line that begins with its epoch and has pairs behind it, and Python's logging with one pair:
//   Epoch: 3 | FT | Train Loss: 0.72994 | Val Loss: 0.66021
//   Train Epoch: 1 [640/60000 (1%)]  Loss: 2.300
//   2020-09-26 03:13:12,345 INFO   val_loss: 0.123
//   FoM: 0.123
// "Epoch 00001: val_loss improved from inf to 0.4768" has no pair, and says nothing.
#include <array>

#include "base/text.h"
#include "metrics/formats.h"
#include "metrics/pairs.h"
#include "metrics/words.h"

namespace sabath {
namespace {

// Behind "YYYY-MM-DD HH:MM:SS[,mmm] LEVEL ", what was said; the text as it is if there is no such front.
bool take_logging(std::string_view& text) {
  if (text.size() < 24 || !is_digit(text[0]) || text[4] != '-' || text[7] != '-') return false;
  for (const std::string_view level : {" INFO ", " DEBUG ", " WARNING ", " INFO:", "[INFO]"}) {
    const std::size_t at = text.substr(0, 96).find(level);
    if (at == std::string_view::npos) continue;
    text.remove_prefix(at + level.size());
    return true;
  }
  return false;
}

bool take_epoch_line(std::string_view text, Trace& trace, Reading& reading) {
  skip_blanks(text);
  for (const std::string_view word : {"Train ", "Training ", "Test ", "Valid ", "Validation ", "End of "}) {
    if (take_word(text, word)) break;
  }
  const auto epoch = take_epoch(text);
  if (!epoch) return false;
  trace.epoch = reading.epoch = epoch->epoch;
  skip_blanks(text);
  std::string_view rest = text;
  if (take_word(rest, "[")) {  // "[640/60000 (1%)]"
    const auto step = take_count(rest);
    const std::size_t end = rest.find(']');
    if (step && rest.starts_with('/') && end != std::string_view::npos) {
      reading.step = static_cast<std::int64_t>(*step);
      text = rest.substr(end + 1);
    }
  }
  take_pairs(text, reading);
  reading.kind = reading.values.empty() ? Reading::Kind::state : Reading::Kind::values;
  return true;
}

// "val_loss: 0.123" and nothing else.
void take_only_pair(std::string_view text, Reading& reading) {
  const std::size_t colon = text.rfind(": ");
  if (colon == std::string_view::npos) return;
  std::string_view number = trim(text.substr(colon + 2));
  if (!take_number(number) || !number.empty()) return;
  take_pairs(text, reading);
}

// Best values are told again at a run's end, after "Best result:", indented, their epoch first.
void take_logged(std::string_view text, Trace& trace, Reading& reading) {
  const bool indented = text.starts_with("  ");
  trace.in_best = trace.in_best && indented;
  take_only_pair(trim(text), reading);
  reading.kind = reading.values.empty() ? Reading::Kind::state : Reading::Kind::values;
  if (trace.in_best) {
    if (reading.epoch) trace.best_epoch = reading.epoch;
    reading.epoch = trace.best_epoch;
  } else if (trim(text) == "Best result:") {
    trace.in_best = true;
    trace.best_epoch.reset();
  }
}

}  // namespace

void read_prints(std::string_view line, Trace& trace, Reading& reading) {
  std::string_view text = line;
  const bool logged = take_logging(text);
  const bool best = logged && trace.in_best && text.starts_with("  ");
  if (!best && take_epoch_line(text, trace, reading)) return;
  if (logged) {
    // The level is followed by one blank of the format; what the program indented comes behind it.
    take_logged(text, trace, reading);
  } else if (line.starts_with("FoM: ")) {
    take_only_pair(line, reading);
    if (!reading.values.empty()) reading.kind = Reading::Kind::values;
  }
}

}  // namespace sabath
