#include "run/output_files.h"

#include <fmt/format.h>

#include <utility>

#include "metrics/rank_prefix.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t prefix_max = 64, line_kept_max = 400, lines_kept = 12;

}  // namespace

void OutputFiles::take(std::string_view bytes) {
  remember(bytes);
  tagged_ ? deal(bytes) : directory_.add_output(stream_, bytes);
}

void OutputFiles::deal(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto newline = bytes.find('\n');
    const bool ends = newline != std::string_view::npos;
    const std::string_view part = bytes.substr(0, ends ? newline + 1 : newline);
    bytes.remove_prefix(part.size());
    if (in_line_) {
      write(part);
    } else {
      held_ += part;
      if (!ends && held_.size() < prefix_max) return;
      begin_line();
    }
    in_line_ = !ends;
  }
}

void OutputFiles::begin_line() {
  const std::string line = std::exchange(held_, {});
  const auto prefix = try_rank_prefix(line);
  rank_ = prefix ? std::optional(prefix->rank) : std::nullopt;
  write(std::string_view(line).substr(prefix ? prefix->length : 0));
}

void OutputFiles::write(std::string_view bytes) {
  directory_.add_output(rank_ ? fmt::format("{}.{}", stream_, *rank_) : stream_, bytes);
}

void OutputFiles::finish() {
  if (!held_.empty()) begin_line();
  in_line_ = false;
  if (!line_.empty()) remember("\n");
}

void OutputFiles::remember(std::string_view bytes) {
  for (const char c : bytes) {
    if (c == '\n' || c == '\r') {
      if (!line_.empty()) last_.push_back(printable(line_, line_kept_max));
      line_.clear();
      if (last_.size() > lines_kept) last_.pop_front();
    } else if (line_.size() < line_kept_max) {
      line_ += c;
    }
  }
}

}  // namespace sabath
