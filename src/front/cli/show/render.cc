#include "cli/show/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/frame/presentation.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {

constexpr std::size_t message_bytes_max = 4000;  // a URL may have 2000 and more

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// Offset of the code point number `count`, or the text's length.
std::size_t offset_of(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  while (at < text.size() && count > 0) {
    ++at;
    while (at < text.size() && continues(text[at])) ++at;
    --count;
  }
  return at;
}

}  // namespace

std::string render_failure(const Failure& failure, bool verbose, bool color) {
  std::string text = paint("error:", Colour::red, color) + " " + printable(failure.message, message_bytes_max) + "\n";
  std::string_view hint = std::string_view(failure.hint).substr(0, message_bytes_max);
  for (std::string start = paint("  hint:", Colour::cyan, color) + " "; !hint.empty(); start = "    ") {
    const std::string_view line = hint.substr(0, hint.find('\n'));  // each below the first is indented
    text += start + printable(line, message_bytes_max) + "\n";
    hint.remove_prefix(std::min(hint.size(), line.size() + 1));
  }
  if (verbose) text += fmt::format("  kind: {} (exit {})\n", name(failure.kind), exit_code(failure.kind));
  return text;
}

std::string render_warning(std::string_view text, bool color) {
  return paint("warning:", Colour::yellow, color) + " " + printable(text, message_bytes_max) + "\n";
}

std::string Table::text(std::vector<std::size_t> right, std::size_t width) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      const std::string padding(widths[i] - display_width(row[i]), ' ');
      const bool is_right = std::ranges::find(right, i) != right.end();
      if (is_right) line += padding;
      line += row[i];
      if (!is_right && i + 1 < row.size()) line += padding;
    }
    if (width > 0) line.resize(offset_of(line, width));
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
  }
  return text;
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char byte) { return !continues(byte); }));
}

std::string shorten(std::string_view text, std::size_t width, bool utf8, bool middle) {
  const std::size_t length = display_width(text);
  if (length <= width) return std::string(text);
  const std::string_view mark = utf8 ? "…" : "...";
  const std::size_t mark_width = utf8 ? 1 : 3;
  if (width <= mark_width) return std::string(text.substr(0, offset_of(text, width)));
  const std::size_t kept = width - mark_width;
  const std::size_t tail = middle ? kept / 2 : 0;
  std::string result(text.substr(0, offset_of(text, kept - tail)));
  result += mark;
  result += text.substr(offset_of(text, length - tail));
  return result;
}

std::string wrap(std::string_view text, std::size_t width, std::string_view indent) {
  std::string result, line;
  const auto end_line = [&] {
    if (!line.empty()) result += std::string(indent) + line + "\n";
    line.clear();
  };
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (!line.empty() && display_width(indent) + display_width(line) + 1 + display_width(word) > width) end_line();
    if (!word.empty() && !line.empty()) line += " ";
    line += word;
    if (end < text.size() && text[end] == '\n') end_line();
    at = end + 1;
  }
  end_line();
  return result;
}

}  // namespace sabath::cli
