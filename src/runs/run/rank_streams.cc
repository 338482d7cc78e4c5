#include "run/rank_streams.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "metrics/rank_prefix.h"

namespace sabath {
namespace {

constexpr std::size_t tag_max = 48;
constexpr auto none = std::string_view::npos;

// Open MPI's tag at the front, "[1,3]<stdout>:"; nullopt if there is none. `cut`: what is there may be its beginning.
std::optional<RankPrefix> open_mpi_tag(std::string_view text, bool& cut) {
  std::string_view rest = text;
  cut = false;
  const auto word = [&](std::string_view expected) {
    const std::size_t length = std::min(expected.size(), rest.size());
    const bool same = rest.substr(0, length) == expected.substr(0, length);
    cut = cut || (same && length < expected.size());
    rest.remove_prefix(length);
    return same && length == expected.size();
  };
  const auto number = [&](int& value) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + std::min<std::size_t>(rest.size(), 9), value);
    const bool good = error == std::errc() && value >= 0;
    if (good) rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    cut = cut || rest.empty();
    return good;
  };
  int job = 0, rank = 0;
  if (!word("[") || !number(job) || !word(",") || !number(rank) || !word("]<std")) return std::nullopt;
  const std::string_view kind = rest.starts_with("o") ? "out>:" : rest.starts_with("e") ? "err>:" : "diag>:";
  if (!word(kind)) return std::nullopt;
  return RankPrefix{rank, text.size() - rest.size()};
}

}  // namespace

void RankStreams::take(std::string_view bytes) {
  if (!tagged_) return sink_(std::nullopt, bytes);
  held_ += bytes;
  std::string_view text = held_;
  while (!text.empty()) {
    const std::size_t taken = in_line_ ? take_line(text, false) : take_line_start(text, false);
    if (taken == 0) break;
    text.remove_prefix(taken);
  }
  held_.erase(0, held_.size() - text.size());
}

void RankStreams::finish() {
  std::string_view text = held_;
  while (!text.empty()) text.remove_prefix(in_line_ ? take_line(text, true) : take_line_start(text, true));
  held_.clear();
  in_line_ = false;
}

// The tag at the start of a line, if there is one. 0: more is needed to tell.
std::size_t RankStreams::take_line_start(std::string_view text, bool last) {
  const bool enough = last || text.size() >= tag_max || text.substr(0, tag_max).find('\n') != none;
  bool cut = false;
  const auto tag = open_mpi_tag(text, cut);
  if (!tag && !enough) return 0;
  const auto prefix = tag ? tag : try_rank_prefix(text.substr(0, text.find('\n')));
  rank_ = prefix ? std::optional(prefix->rank) : std::nullopt;
  in_line_ = true;
  return prefix ? prefix->length : take_line(text, last);
}

// Up to the end of the line or to the next tag in it.
std::size_t RankStreams::take_line(std::string_view text, bool last) {
  const std::size_t newline = text.find('\n');
  const std::string_view line = text.substr(0, newline == none ? none : newline + 1);
  for (std::size_t at = line.find('['); at != none; at = line.find('[', at + 1)) {
    bool cut = false;
    const auto tag = open_mpi_tag(line.substr(at), cut);
    if (!tag && !(cut && newline == none && !last)) continue;
    if (tag && inside_ == Inside::of_its_rank && rank_ != tag->rank) continue;
    if (at > 0) sink_(rank_, line.substr(0, at));
    if (!tag) return at;
    rank_ = tag->rank;
    return at + tag->length;
  }
  sink_(rank_, line);
  in_line_ = newline == none;
  return line.size();
}

}  // namespace sabath
