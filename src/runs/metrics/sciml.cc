// sciml-bench's console.log, four dots for each level:
//   ....<BEGIN> Epoch 1
//   ........<MESSG> Batch: 0, Train Loss:  0.69315
//   ....<ENDED> Epoch 1 [ELAPSED = 12.345678 sec]
#include "base/text.h"
#include "metrics/formats.h"
#include "metrics/pairs.h"
#include "metrics/words.h"

namespace sabath {
namespace {

void read_end(std::string_view text, const std::optional<EpochWords>& epoch, Reading& reading) {
  constexpr std::string_view mark = "[ELAPSED = ";
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return;
  std::string_view rest = text.substr(at + mark.size());
  const auto seconds = take_number(rest);
  if (!seconds || !rest.starts_with(" sec]")) return;
  if (epoch) {
    reading.epoch = epoch->epoch;
    reading.add("epoch_time", *seconds);
  } else {
    reading.add_made(std::string(trim(text.substr(0, at))) + " time", *seconds);
  }
}

void read_sciml(std::string_view line, Trace& trace, Reading& reading) {
  std::string_view text = line;
  while (!text.empty() && text.front() == '.') text.remove_prefix(1);
  const bool begin = take_word(text, "<BEGIN> ");
  const bool end = !begin && take_word(text, "<ENDED> ");
  if (!begin && !end && !take_word(text, "<MESSG> ")) return;
  reading.kind = Reading::Kind::state;
  std::string_view rest = text;
  const auto epoch = take_epoch(rest);
  if (begin) {
    if (epoch) trace.epoch = epoch->epoch;
  } else if (end) {
    read_end(text, epoch, reading);
  } else {
    reading.epoch = epoch ? std::optional(epoch->epoch) : trace.epoch;
    take_pairs(epoch ? rest : text, reading);
  }
  if (!reading.values.empty()) reading.kind = Reading::Kind::values;
}

}  // namespace

extern constexpr LogFormat sciml_format{.name = "sciml", .title = "sciml-bench", .read = read_sciml};

}  // namespace sabath
