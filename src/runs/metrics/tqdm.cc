// tqdm's bars with values behind the rate, as Lightning and many scripts print them:
//   Epoch 11: 100%|████| 32/32 [00:03<00:00,  9.82it/s, loss=nan, v_num=33632, total_val_loss=nan.0]
// A bar is told when it is full, or when nothing rewrites it any more.
#include <cmath>

#include "base/text.h"
#include "metrics/formats.h"
#include "metrics/words.h"

namespace sabath {
namespace {

// "32", "1.20k": how many.
std::optional<double> take_scaled_count(std::string_view& text) {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  const auto number = take_number(text);
  const auto unit = number ? unit_prefix(text.substr(0, text.find('/'))) : std::nullopt;
  if (!unit) return number;
  text.remove_prefix(unit->length);
  return *number * unit->scale;
}

// "32/32 ", "1.90k/1.90k", "32it " or "32/? " in front of the bracket: true if the bar is full or of unknown length.
bool is_full(std::string_view head) {
  head = trim(head);
  const std::size_t begin = head.find_last_of(" |") + 1;
  std::string_view counts = head.substr(begin);
  const auto done = take_scaled_count(counts);
  if (!done) return false;
  if (!take_word(counts, "/")) return true;
  const auto total = take_scaled_count(counts);
  return !total || *total <= *done;
}

// "9.82it/s", "1.2Kit/s", "1.2k tokens/s" or "2.31s/it": iterations a second.
std::optional<double> rate_of(std::string_view field) {
  const auto number = take_number(field, true);
  const auto unit = number ? unit_prefix(field) : std::nullopt;
  if (!unit) return std::nullopt;
  if (field.ends_with("/s")) return *number * unit->scale;
  if (field.starts_with("s/") && *number > 0) return 1 / *number;
  return std::nullopt;
}

void take_value(std::string_view field, bool grouped, Reading& reading) {
  const std::size_t sign = field.find('=');
  if (sign == std::string_view::npos || sign == 0) return;
  std::string_view rest = trim(field.substr(sign + 1));
  const Quantity number = take_quantity(rest, grouped);
  reading.doubtful = reading.doubtful || number.doubtful;
  if (number.found && rest.empty()) reading.add(trim(field.substr(0, sign)), number.value);
}

void read_tqdm(std::string_view line, Trace& trace, Reading& reading) {
  // The bracket that begins with a clock: "[00:03<00:00, ..." or "[00:03, ...".
  std::size_t open = line.find('[');
  std::optional<double> elapsed;
  std::string_view inside;
  for (; open != std::string_view::npos && !elapsed; open = line.find('[', open + 1)) {
    inside = line.substr(open + 1);
    if (inside.size() < 5 || inside.substr(0, 10).find(':') == std::string_view::npos) continue;
    elapsed = take_duration(inside);
    if (elapsed && !inside.starts_with("<") && !inside.starts_with(",")) elapsed.reset();
    if (elapsed) break;
  }
  if (!elapsed) return;
  const std::string_view head = line.substr(0, open);
  std::string_view name = head;
  skip_blanks(name);
  const auto epoch = take_epoch(name);
  if (epoch) trace.epoch = epoch->epoch;
  reading.kind = Reading::Kind::state;
  if (!is_full(head)) return;

  const std::size_t close = inside.rfind(']');
  if (close == std::string_view::npos) return;  // cut off
  inside = inside.substr(0, close);
  std::optional<double> rate;
  const bool grouped = writes_points(inside);
  // A comma without a blank behind it belongs to a number.
  for (std::size_t end = inside.find(", "); end != std::string_view::npos;) {
    inside.remove_prefix(end + 2);
    end = inside.find(", ");
    const std::string_view field = trim(inside.substr(0, end));
    if (!rate && (rate = rate_of(field))) continue;
    take_value(field, grouped, reading);
  }
  if (!epoch && reading.values.empty()) return;  // some other work's bar
  reading.epoch = epoch ? std::optional(epoch->epoch) : trace.epoch;
  if (epoch) reading.add("epoch_time", *elapsed);
  if (epoch && rate) reading.add("iterations_per_second", *rate);
  reading.kind = Reading::Kind::values;
}

}  // namespace

extern constexpr LogFormat tqdm_format{
    .name = "tqdm", .title = "Lightning", .read = read_tqdm, .habit = Habit::tells_again};

}  // namespace sabath
