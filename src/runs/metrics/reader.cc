#include "metrics/reader.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "metrics/clean_line.h"
#include "metrics/formats.h"
#include "metrics/line_splitter.h"
#include "metrics/pairs.h"
#include "metrics/patterns.h"
#include "metrics/rank_prefix.h"
#include "metrics/words.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t ranks_max = 1 << 16;  // with a memory of their own; further ones have none between lines
constexpr LogFormat named_groups{.name = "pattern", .read = nullptr};  // the user's own expressions

struct Held {
  Reading reading;
  const LogFormat* format = nullptr;
  bool rewritten = false;  // by a carriage return, so that other values may take its place
};

struct RankState {
  Trace trace;
  std::unique_ptr<Held> held;
};

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool is_time(std::string_view name) { return name.ends_with("_time"); }

// True if `next` has all held values again.
bool repeats(const Held& held, const Reading& next, const LogFormat* format) {
  if (held.format != format || held.reading.epoch != next.epoch || held.reading.step != next.step) return false;
  if (held.rewritten) return true;
  for (const auto& value : held.reading.values) {
    bool found = false;
    for (const auto& other : next.values) {
      found = found || (other.name == value.name && (is_time(value.name) || same(other.value, value.value)));
    }
    if (!found) return false;
  }
  return true;
}

std::unique_ptr<Held> hold(const Reading& reading, const LogFormat* format, bool rewritten) {
  auto held = std::make_unique<Held>();
  held->format = format;
  held->rewritten = rewritten;
  Reading& copy = held->reading;
  copy.kind = reading.kind;
  copy.time = reading.time;
  copy.epoch = reading.epoch;
  copy.step = reading.step;
  copy.rank = reading.rank;
  for (const auto& [group, name, value] : reading.values) {
    std::string whole(group);
    if (!group.empty()) whole += ' ';
    copy.add_made(whole += name, value);
  }
  return held;
}

// Keeps only the new values of a bar that was told before.
void drop_told(Reading& reading, Trace& trace) {
  if (trace.bar_epoch != reading.epoch) trace.bar_values.clear();
  trace.bar_epoch = reading.epoch;
  std::erase_if(reading.values, [&](const Reading::Value& value) {
    for (const auto& [name, told] : trace.bar_values) {
      if (name == value.name && same(told, value.value)) return true;
    }
    return false;
  });
  constexpr std::size_t values_max = 256;
  for (const auto& value : reading.values) {
    if (trace.bar_values.size() < values_max) trace.bar_values.emplace_back(value.name, value.value);
  }
}

bool has(const LogFormat* format, Habit habit) { return format != nullptr && format->habit == habit; }

// For a stream without a newline at its end. If it ended with a full buffer of the C library or Python, the last number
// may be cut, and is dropped; a closing bracket shows that it is whole.
std::string_view whole_words(std::string_view line, std::uint64_t stream_bytes) {
  constexpr std::uint64_t buffer = 4096;
  if (line.empty() || stream_bytes % buffer != 0) return line;
  if (std::string_view("}])").find(line.back()) != std::string_view::npos) return line;
  return line.substr(0, line.find_last_of(" \t,;|") + 1);
}

}  // namespace

class MetricReader::Parts {
 public:
  Parts(MetricReaderOptions options, Sink sink)
      : options_(std::move(options)),
        sink_(std::move(sink)),
        patterns_(options_.patterns),
        splitter_(options_.line_max) {
    for (const LogFormat* const format : log_formats()) {
      if (!options_.only.empty() && options_.only != format->name) continue;
      (format->mark.empty() ? formats_ : marked_).push_back(format);
    }
    if (formats_.empty() && marked_.empty())
      throw Error(FailureKind::invalid, "there is no log format " + printable(options_.only));
  }

  void feed(std::string_view bytes, double time);
  void finish();

  MetricReaderCounts counts_;

 private:
  void take(const LinePiece& piece);
  void take_line(std::string_view line, bool rewritten, std::optional<int> rank);
  // Reads the objects behind each mark in the line. They are told at once; other text in the line is ignored.
  bool take_marked(std::string_view line, std::optional<int> rank);
  // The format that the line is of, null if it is of none; fills reading_.
  const LogFormat* read(std::string_view line, Trace& trace);
  RankState& state_of(std::optional<int> rank);
  void release(RankState& state, std::optional<int> rank);
  void note_doubt(std::string_view line);
  void tell(const Reading& reading, std::optional<int> rank);

  MetricReaderOptions options_;
  Sink sink_;
  Patterns patterns_;
  std::vector<const LogFormat*> formats_, marked_;  // looked for in each line, and behind a mark
  LineSplitter splitter_;
  double time_ = std::numeric_limits<double>::quiet_NaN();
  std::unordered_map<int, RankState> states_;
  RankState forgetful_;
  std::optional<int> line_rank_;  // of the pieces before, in the same line
  bool line_begins_ = true;
  std::uint64_t newlines_ = 0;
  bool doubt_noted_ = false;  // of this line
  std::string scratch_;
  Reading reading_;
  Metric metric_;
};

void MetricReader::Parts::feed(std::string_view bytes, double time) {
  counts_.bytes += bytes.size();
  time_ = time;
  splitter_.feed(bytes, [this](const LinePiece& piece) { take(piece); });
  counts_.lines_too_long = splitter_.too_long();
}

void MetricReader::Parts::finish() {
  splitter_.finish([this](const LinePiece& piece) { take({whole_words(piece.text, counts_.bytes), false}); });
  counts_.lines_too_long = splitter_.too_long();
  for (auto& [rank, state] : states_) release(state, rank < 0 ? std::nullopt : std::optional(rank));
  release(forgetful_, std::nullopt);
}

void MetricReader::Parts::take(const LinePiece& piece) {
  ++counts_.lines;
  std::string_view text = clean_line(piece.text, scratch_);
  take_word(text, "\xef\xbb\xbf");  // a byte order mark, also where files were joined
  if (line_begins_) line_rank_ = options_.rank;
  if (const auto prefix = try_rank_prefix(text)) {
    line_rank_ = prefix->rank;
    text.remove_prefix(prefix->length);
  }
  if (line_begins_) doubt_noted_ = false;
  line_begins_ = !piece.rewritten;
  take_line(text, piece.rewritten, line_rank_);
  if (line_begins_) ++newlines_;
}

void MetricReader::Parts::take_line(std::string_view line, bool rewritten, std::optional<int> rank) {
  RankState& state = state_of(rank);
  if (line.empty()) {
    // The end of a rewritten line, or of a line with CR LF; a bar that will be told again waits for that.
    if (!rewritten && state.held) {
      if (state.held->reading.kind == Reading::Kind::repeated) {
        state.held->rewritten = false;
      } else {
        release(state, rank);
      }
    }
    return;
  }
  if (take_marked(line, rank)) return;
  const LogFormat* format = read(line, state.trace);
  if (reading_.doubtful || (format == nullptr && looks_like_metrics(line))) note_doubt(line);
  const bool tells = reading_.kind == Reading::Kind::values || reading_.kind == Reading::Kind::repeated;
  if (state.held && !(tells && repeats(*state.held, reading_, format))) {
    const bool ended = has(state.held->format, Habit::ends_epochs) && state.held->format == format;
    release(state, rank);
    if (ended && tells) format = read(line, state.trace);  // of another epoch now
  }
  if (!tells) return;
  if (has(format, Habit::tells_again) && !rewritten) drop_told(reading_, state.trace);
  const bool at_once = has(format, Habit::whole_lines);
  if (!at_once && (rewritten || reading_.kind == Reading::Kind::repeated)) {
    if (std::isnan(reading_.time)) reading_.time = time_;
    state.held = hold(reading_, format, rewritten);
    return;
  }
  state.held.reset();
  if (has(format, Habit::ends_epochs)) state.trace.epoch_told = true;
  tell(reading_, rank);
}

void MetricReader::Parts::note_doubt(std::string_view line) {
  constexpr std::size_t shown_max = 160;
  if (std::exchange(doubt_noted_, true) || !options_.only.empty()) return;
  if (++counts_.not_understood > 1) return;
  counts_.first_not_understood = newlines_ + 1;
  counts_.not_understood_line = line.substr(0, shown_max);
}

bool MetricReader::Parts::take_marked(std::string_view line, std::optional<int> rank) {
  bool found = false;
  for (std::size_t at = line.find(":::"); at != std::string_view::npos; at = line.find(":::", at)) {
    std::string_view rest = line.substr(at);
    at += 3;
    const auto format =
        std::find_if(marked_.begin(), marked_.end(), [&](const LogFormat* one) { return take_word(rest, one->mark); });
    if (format == marked_.end()) continue;
    found = true;
    skip_blanks(rest);
    const auto length = scan_json_object(rest, reading_.leaves);
    if (!length) {
      ++counts_.malformed;
      continue;
    }
    at = static_cast<std::size_t>(rest.data() - line.data()) + *length;
    reading_.clear();
    (*format)->read(rest.substr(0, *length), state_of(rank).trace, reading_);
    if (reading_.kind == Reading::Kind::values) tell(reading_, rank);
  }
  return found;
}

const LogFormat* MetricReader::Parts::read(std::string_view line, Trace& trace) {
  reading_.clear();
  reading_.doubtful = false;
  patterns_.read(line, trace, reading_);
  if (reading_.kind != Reading::Kind::none) return &named_groups;
  for (const LogFormat* const format : formats_) {
    format->read(line, trace, reading_);
    if (reading_.kind != Reading::Kind::none) return format;
  }
  return nullptr;
}

RankState& MetricReader::Parts::state_of(std::optional<int> rank) {
  const int key = rank.value_or(-1);
  const auto found = states_.find(key);
  if (found != states_.end()) return found->second;
  if (states_.size() < ranks_max) return states_[key];
  if (!forgetful_.held) forgetful_.trace = {};
  return forgetful_;
}

void MetricReader::Parts::release(RankState& state, std::optional<int> rank) {
  if (!state.held) return;
  const auto held = std::exchange(state.held, nullptr);
  if (has(held->format, Habit::ends_epochs) && held->reading.epoch == state.trace.epoch) state.trace.epoch_told = true;
  if (has(held->format, Habit::tells_again)) drop_told(held->reading, state.trace);
  tell(held->reading, rank);
}

void MetricReader::Parts::tell(const Reading& reading, std::optional<int> rank) {
  metric_.time = std::isnan(reading.time) ? time_ : reading.time;
  metric_.epoch = reading.epoch;
  metric_.step = reading.step;
  metric_.rank = reading.rank ? reading.rank : rank;
  for (const auto& [group, name, value] : reading.values) {
    metric_.name = group;
    if (!group.empty()) metric_.name += ' ';
    metric_.name += name;
    metric_.value = value;
    ++counts_.metrics;
    sink_(metric_);
  }
}

MetricReader::MetricReader(MetricReaderOptions options, Sink sink)
    : parts_(std::make_unique<Parts>(std::move(options), std::move(sink))) {}
MetricReader::~MetricReader() = default;
void MetricReader::feed(std::string_view bytes, double time) { parts_->feed(bytes, time); }
void MetricReader::finish() { parts_->finish(); }
const MetricReaderCounts& MetricReader::counts() const noexcept { return parts_->counts_; }

}  // namespace sabath
