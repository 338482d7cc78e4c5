#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/text.h"
#include "cli/frame/presentation.h"
#include "cli/show/progress_state.h"
#include "cli/show/render.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {

constexpr std::size_t source_lines_max = 6, url_bytes_max = 8192;
constexpr unsigned bar_width_min = 10, bar_width_max = 60;

std::uint64_t bytes_done(const ProgressState& state) {
  return state.received + state.reused + static_cast<std::uint64_t>(std::max<std::int64_t>(state.kept, 0));
}

// From 0 to 1; nothing when the total is not known.
std::optional<double> fraction(const ProgressState& state) {
  if (!state.bytes_total) return std::nullopt;
  if (*state.bytes_total == 0) return 1.0;
  return std::min(1.0, static_cast<double>(bytes_done(state)) / static_cast<double>(*state.bytes_total));
}

std::string rate_text(double rate) { return rate < 1 ? "-" : format_bytes(static_cast<std::uint64_t>(rate)) + "/s"; }

std::string percent_text(double part) {  // rounded down: 100 % means all
  return fmt::format("{:>3}%", static_cast<int>(std::floor(part * 100)));
}

std::string amount_text(const ProgressState& state) {
  const std::string done = format_bytes(bytes_done(state));
  return state.bytes_total ? fmt::format("{} of {}", done, format_bytes(*state.bytes_total)) : done;
}

std::string remaining_text(const ProgressState& state) {
  const double rate = state.meter.rate();
  if (!state.bytes_total || rate < 1 || bytes_done(state) >= *state.bytes_total) return "";
  const double left_s = std::ceil(static_cast<double>(*state.bytes_total - bytes_done(state)) / rate);
  return (left_s < 60 ? fmt::format("{:.0f} s", left_s) : format_duration(left_s)) + " left";
}

std::string files_text(const ProgressState& state) {
  if (state.files_total > 0) return fmt::format("{} of {}", state.files_done, counted(state.files_total, "file"));
  return state.files_done > 0 ? counted(state.files_done, "file") : "";
}

// The host whose pause lasts longest, and how many more there are; empty: none.
std::string waiting_text(const ProgressState& state) {
  const auto by_end = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto longest = std::ranges::max_element(state.pauses, by_end);
  if (longest == state.pauses.end()) return "";
  const std::size_t others = state.pauses.size() - 1;
  return pause_text(longest->first, longest->second - state.now_s) +
         (others > 0 ? fmt::format(", and {} more", others) : "");
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += (text.empty() ? "" : std::string(between)) + part;
  }
  return text;
}

std::string bar(double part, std::size_t width, const DrawStyle& style) {
  const std::size_t inner = style.utf8 ? width : width - 2;
  const auto filled = static_cast<std::size_t>(std::floor(part * static_cast<double>(inner)));
  std::string done, open;
  for (std::size_t i = 0; i < inner; ++i) {
    std::string& side = i < filled ? done : open;
    side += style.utf8 ? (i < filled ? "━" : "─") : i < filled ? "=" : " ";
  }
  if (style.utf8) return paint(done, Colour::cyan, style.color) + paint(open, Colour::dim, style.color);
  return fmt::format("[{}{}]", paint(done, Colour::cyan, style.color), open);
}

std::string first_line(const ProgressState& state, const DrawStyle& style, std::size_t columns) {
  std::string rest = joined({state.phase, files_text(state)}, ", ");
  if (!rest.empty()) rest = "  " + rest;
  if (display_width(rest) + 8 > columns) rest.clear();  // a narrow terminal: the name alone
  const std::string name = shorten(printable(state.name), columns - display_width(rest), style.utf8);
  return paint(name, Colour::bold, style.color) + rest;
}

// The figures that fit, the least telling one dropped first; the bar takes what is left.
std::string second_line(const ProgressState& state, const DrawStyle& style, std::size_t columns) {
  const auto part = fraction(state);
  const std::string percent = part ? percent_text(*part) : "";
  const std::string amount = amount_text(state);
  const std::string rate = rate_text(state.meter.rate());
  const std::string time = part ? remaining_text(state) : format_duration(state.now_s - state.started_s);
  std::string figures;
  for (const auto& choice : {std::vector{percent, amount, rate, time},
                             {percent, part ? "" : amount, rate, time},
                             {percent, part ? "" : amount, rate},
                             {part ? percent : amount}}) {
    figures = joined(choice, "  ");
    if (display_width(figures) <= columns) break;
  }
  const std::size_t room = columns - std::min(columns, display_width(figures) + 1);
  if (!part || room < bar_width_min) return figures;
  return bar(*part, std::min<std::size_t>(room, bar_width_max), style) + " " + figures;
}

std::string source_troubles(const SourceProgress& source) {
  std::string text = source.failures > 0 ? fmt::format("  {} failed", source.failures) : "";
  if (source.demoted) text += ", avoided";
  return text;
}

// One line a source, their columns aligned; a narrow terminal keeps the rate alone.
std::vector<std::string> source_lines(const std::vector<const SourceProgress*>& sources, const DrawStyle& style,
                                      std::size_t columns) {
  constexpr std::size_t rate_width = 9, bytes_width = 7, url_width_min = 24;
  std::size_t troubles = 0, longest = 0;
  for (const SourceProgress* source : sources) {
    troubles = std::max(troubles, source_troubles(*source).size());
    longest = std::max(longest, display_width(printable(source->url, url_bytes_max)));
  }
  const bool roomy = columns >= url_width_min + rate_width + bytes_width + troubles + 6;
  const std::size_t figures = rate_width + 2 + (roomy ? 2 + bytes_width + troubles : 0);
  const std::size_t room = std::min(longest, columns - std::min(columns, figures + 2));
  std::vector<std::string> lines;
  for (const SourceProgress* source : sources) {
    const std::string url = shorten(printable(source->url, url_bytes_max), room, style.utf8, true);
    std::string line = fmt::format("  {}{:{}}  {:>{}}", url, "", room - std::min(room, display_width(url)),
                                   rate_text(source->meter.rate()), rate_width);
    if (roomy) {
      line += fmt::format("  {:>{}}{}", format_bytes(source->bytes), bytes_width, source_troubles(*source));
    }
    lines.push_back(source->demoted ? paint(line, Colour::yellow, style.color) : line);
  }
  return lines;
}

}  // namespace

std::vector<std::string> draw_block(const ProgressState& state, const DrawStyle& style) {
  const std::size_t columns = style.width - 1;
  std::vector<std::string> lines{first_line(state, style, columns), second_line(state, style, columns)};
  std::vector<const SourceProgress*> sources;
  for (const auto& [number, source] : state.sources) {
    if (!source.url.empty()) sources.push_back(&source);
  }
  // The busiest first when not all have a line; otherwise their order never changes before the reader's eyes.
  if (sources.size() > source_lines_max) {
    std::ranges::stable_sort(sources, std::ranges::greater{}, [](const auto* source) { return source->bytes; });
  }
  const std::size_t hidden = sources.size() - std::min(sources.size(), source_lines_max);
  sources.resize(sources.size() - hidden);
  for (std::string& line : source_lines(sources, style, columns)) lines.push_back(std::move(line));
  if (const std::string waiting = waiting_text(state); !waiting.empty()) {
    lines.push_back(paint(shorten("  " + waiting, columns, style.utf8), Colour::yellow, style.color));
  }
  if (hidden > 0) lines.push_back(shorten("  and " + counted(hidden, "more source"), columns, style.utf8));
  return lines;
}

std::string how_far(const ProgressState& state) {
  const auto part = fraction(state);
  return part ? fmt::format(" at {} ({})", trim(percent_text(*part)), amount_text(state)) : "";
}

std::string pause_text(const std::string& host, double seconds) {
  const double left_s = std::ceil(seconds);
  return fmt::format("waiting {}: {} asked for it",
                     left_s < 60 ? fmt::format("{:.0f} s", left_s) : format_duration(left_s), printable(host));
}

std::string draw_line(const ProgressState& state, std::time_t wall_clock) {
  const auto part = fraction(state);
  const std::string amount = amount_text(state);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S%z} {}: {}", fmt::localtime(wall_clock), printable(state.name),
                     joined({state.phase, part ? std::string(trim(percent_text(*part))) : "", amount, files_text(state),
                             rate_text(state.meter.rate()), remaining_text(state), waiting_text(state)},
                            ", "));
}

}  // namespace sabath::cli
