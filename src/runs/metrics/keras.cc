// Keras' progress lines, as TF1, TF2 and Keras 3 print them:
//   Epoch 3/75
//   478/478 [====] - 46s 28ms/step - loss: 0.7453 - val_loss: 0.69           bar of TF; "1us/sample" in TF1
//   478/478 ━━━━ 7s 4ms/step - loss: 0.7453                                  bar of Keras 3
//   313/313 - 0s - loss: 0.0778 - 358ms/epoch - 1ms/step                     verbose=2; "313/313 - " is missing in TF1
// A bar with an ETA, or short of its total, is on its way. Keras 3 prints a full bar twice, first without validation.
#include "base/text.h"
#include "metrics/formats.h"
#include "metrics/words.h"

namespace sabath {
namespace {

struct Times {
  std::optional<double> elapsed, epoch, step, sample;
  bool on_its_way = false;
};

// "46s 28ms/step", "358ms/epoch", "ETA: 3s"; false: none of these.
bool take_times(std::string_view field, Times& times) {
  if (field.starts_with("ETA:")) return times.on_its_way = true;
  while (!field.empty()) {
    const auto duration = take_duration(field);
    if (!duration) return false;
    if (take_word(field, "/step")) {
      times.step = duration;
    } else if (take_word(field, "/sample")) {
      times.sample = duration;
    } else if (take_word(field, "/epoch")) {
      times.epoch = duration;
    } else {
      times.elapsed = duration;
    }
    skip_blanks(field);
  }
  return true;
}

// Fields between " - ". False: something that Keras does not print.
bool take_fields(std::string_view text, Times& times, Reading& reading) {
  while (!text.empty()) {
    const std::size_t end = text.find(" - ");
    const std::string_view field = trim(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 3);
    if (field.empty() || take_times(field, times)) continue;
    const std::size_t colon = field.rfind(": ");
    if (colon == std::string_view::npos || colon == 0) return false;
    std::string_view number = trim(field.substr(colon + 2));
    const auto value = take_number(number);
    if (!value) return false;
    if (!number.empty()) break;  // something was printed behind the line, without a newline
    reading.add(field.substr(0, colon), *value);
  }
  return true;
}

// A line is cut when a log is: "loss=" or "loss: 0.0" at its end would be a wrong value, so the caller gives whole
// lines.
enum class Bar { none, on_its_way, full, full_of_keras3 };

Bar take_bar(std::string_view& text) {
  const auto done = take_count(text);
  if (!done || !take_word(text, "/")) return Bar::none;
  std::optional<double> total;
  if (!take_word(text, "Unknown") && !(total = take_count(text))) return Bar::none;
  if (!take_word(text, " ")) return Bar::none;
  skip_blanks(text);
  Bar bar = Bar::full;
  if (text.starts_with("[")) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || text.substr(1, end - 1).find_first_not_of("=>.") != std::string_view::npos)
      return Bar::none;
    text.remove_prefix(end + 1);
  } else if (text.starts_with("\xe2\x94\x81") || text.starts_with("\xe2\x95")) {
    while (text.starts_with("\xe2\x94\x81") || text.starts_with("\xe2\x95"))
      text.remove_prefix(std::min<std::size_t>(3, text.size()));
    bar = Bar::full_of_keras3;
  } else if (!text.starts_with("- ")) {
    return Bar::none;
  }
  skip_blanks(text);
  take_word(text, "- ");
  return total && *total > 0 && done == total ? bar : Bar::on_its_way;
}

void tell_times(const Times& times, bool evaluation, Reading& reading) {
  const auto epoch_time = times.epoch ? times.epoch : times.elapsed;
  if (epoch_time) reading.add(evaluation ? "evaluation_time" : "epoch_time", *epoch_time);
  if (times.step) reading.add("step_time", *times.step);
  if (times.sample) reading.add("sample_time", *times.sample);
}

bool read_header(std::string_view line, Trace& trace) {
  std::string_view rest = line;
  if (!take_word(rest, "Epoch ")) return false;
  const auto epoch = take_count(rest);
  if (!epoch || !take_word(rest, "/") || !take_count(rest) || !trim(rest).empty()) return false;
  trace.epoch = epoch;
  trace.epoch_told = false;
  return true;
}

void read_keras(std::string_view line, Trace& trace, Reading& reading) {
  if (read_header(line, trace)) {
    reading.kind = Reading::Kind::state;
    return;
  }
  std::string_view text = line;
  skip_blanks(text);
  Bar bar = Bar::full;
  if (text.starts_with("- ")) {  // verbose=2 of TF1: only the fields
    text.remove_prefix(2);
    if (text.empty() || !is_digit(text.front())) return;
  } else if (text.empty() || !is_digit(text.front()) || (bar = take_bar(text)) == Bar::none) {
    return;
  }
  Times times;
  const bool whole = take_fields(text, times, reading);
  if (bar == Bar::on_its_way || times.on_its_way) {
    reading.clear();
    reading.kind = Reading::Kind::state;
  } else if (!whole || (!times.elapsed && !times.epoch)) {
    reading.clear();
  } else {
    const bool evaluation = trace.epoch_told;
    if (!evaluation) reading.epoch = trace.epoch;
    tell_times(times, evaluation, reading);
    reading.kind = bar == Bar::full_of_keras3 ? Reading::Kind::repeated : Reading::Kind::values;
  }
}

}  // namespace

extern constexpr LogFormat keras_format{
    .name = "keras", .title = "Keras", .read = read_keras, .habit = Habit::ends_epochs};

}  // namespace sabath
