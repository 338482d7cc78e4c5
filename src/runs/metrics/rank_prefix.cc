#include "metrics/rank_prefix.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace sabath {
namespace {

constexpr int rank_max = 99'999'999;

// A rank in decimal at the front of `text`, which it is taken from.
std::optional<int> take_rank(std::string_view& text) {
  int rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc{} || rank < 0 || rank > rank_max || text.front() == '-') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return rank;
}

bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

// "1,3]<stdout>:" or "host@1,3]<stderr>: ", behind the bracket.
std::optional<int> take_open_mpi(std::string_view& text) {
  const std::size_t end = text.substr(0, 320).find("]<std");
  if (end == std::string_view::npos) return std::nullopt;
  const std::size_t comma = text.substr(0, end).rfind(',');
  if (comma == std::string_view::npos) return std::nullopt;
  std::string_view digits = text.substr(comma + 1, end - comma - 1);
  const auto rank = take_rank(digits);
  if (!rank || !digits.empty()) return std::nullopt;
  text.remove_prefix(end + 1);
  if (!take(text, "<stdout>:") && !take(text, "<stderr>:") && !take(text, "<stddiag>:")) return std::nullopt;
  take(text, " ");
  return rank;
}

std::optional<int> take_bracketed(std::string_view& text) {
  const std::string_view begin = text;
  if (const auto rank = take_open_mpi(text)) return rank;
  text = begin;
  const bool named = take(text, "rank") || take(text, "default");
  const auto rank = take_rank(text);
  if (!rank || !take(text, "]") || !(take(text, named ? ":" : " "))) return std::nullopt;
  if (named) take(text, " ");
  return rank;
}

std::optional<int> take_srun(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const auto rank = take_rank(text);
  if (!rank || !take(text, ":") || !(text.empty() || take(text, " "))) return std::nullopt;
  return rank;
}

}  // namespace

std::optional<RankPrefix> try_rank_prefix(std::string_view line) noexcept {
  if (line.empty()) return std::nullopt;
  std::string_view rest = line;
  std::optional<int> rank;
  if (line.front() == '[') {
    rest.remove_prefix(1);
    rank = take_bracketed(rest);
  } else if (line.front() == ' ' || (line.front() >= '0' && line.front() <= '9')) {
    rank = take_srun(rest);
  }
  if (!rank) return std::nullopt;
  return RankPrefix{*rank, line.size() - rest.size()};
}

}  // namespace sabath
