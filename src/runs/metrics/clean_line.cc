#include "metrics/clean_line.h"

#include <cstring>

namespace sabath {
namespace {

constexpr char escape = '\x1b', bell = '\a';

bool has(std::string_view text, char c) { return !text.empty() && std::memchr(text.data(), c, text.size()) != nullptr; }

// The bytes of the escape sequence at the front (ECMA-48): CSI "ESC [ ... letter", OSC "ESC ] ... BEL", or two bytes.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2) return text.size();
  std::size_t at = 2;
  if (text[1] == '[') {
    while (at < text.size() && text[at] >= 0x20 && text[at] < 0x40) ++at;
    return at < text.size() && text[at] >= 0x40 ? at + 1 : at;
  }
  if (text[1] == ']') {
    while (at < text.size() && text[at] != bell && text[at] != escape) ++at;
    return at < text.size() && text[at] == bell ? at + 1 : at;
  }
  return text[1] == escape ? 1 : 2;
}

void drop_escapes(std::string_view line, std::string& scratch) {
  scratch.clear();
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == escape) {
      at += escape_length(line.substr(at));
    } else {
      scratch += line[at++];
    }
  }
}

std::string_view behind_backspaces(std::string_view line) {
  while (!line.empty() && (line.back() == '\b' || line.back() == ' ')) line.remove_suffix(1);
  const std::size_t last = line.rfind('\b');
  return last == std::string_view::npos ? line : line.substr(last + 1);
}

}  // namespace

std::string_view clean_line(std::string_view line, std::string& scratch) {
  if (has(line, escape)) {
    drop_escapes(line, scratch);
    line = scratch;
  }
  return has(line, '\b') ? behind_backspaces(line) : line;
}

}  // namespace sabath
