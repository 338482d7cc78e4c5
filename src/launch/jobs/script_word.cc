#include "jobs/script_word.h"

#include <fmt/format.h>

#include <algorithm>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t directive_bytes_max = 256, label_bytes_max = 64;

bool is_letter_or_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// What bash reads as itself in any word.
bool is_plain_in_script(char c) {
  return is_letter_or_digit(c) || std::string_view("_-+.,:/%").find(c) != std::string_view::npos;
}

bool is_plain_in_directive(char c) {
  return is_letter_or_digit(c) || std::string_view("_-+=.,:/").find(c) != std::string_view::npos;
}

bool is_printable_ascii(char c) { return c >= ' ' && c <= '~'; }

std::string numbered(std::string_view text) {
  std::string word = "$'";
  for (const char c : text) {
    const bool as_it_is = is_printable_ascii(c) && c != '\'' && c != '\\' && c != '@';
    word += as_it_is ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return word + "'";
}

}  // namespace

std::string script_word(std::string_view text) {
  if (text.size() > script_word_bytes_max) {
    throw Error(FailureKind::usage, fmt::format("'{}...' is too long for a script", printable(text.substr(0, 60))),
                fmt::format("a value has at most {} bytes", script_word_bytes_max));
  }
  if (text.find('\0') != text.npos) {
    throw Error(FailureKind::usage, fmt::format("'{}' holds a byte 0, which no command takes", printable(text)));
  }
  if (!text.empty() && std::ranges::all_of(text, is_plain_in_script)) return std::string(text);
  const bool quotes_do = std::ranges::all_of(text, is_printable_ascii) && text.find_first_of("'@") == text.npos;
  return quotes_do ? fmt::format("'{}'", text) : numbered(text);
}

std::string script_words(const std::vector<std::string>& texts) {
  std::string line;
  for (const std::string& text : texts) line += (line.empty() ? "" : " ") + script_word(text);
  return line;
}

std::string directive_word(std::string_view what, std::string_view text) {
  const bool good = !text.empty() && text.size() <= directive_bytes_max && is_letter_or_digit(text.front()) &&
                    std::ranges::all_of(text, is_plain_in_directive);
  if (good) return std::string(text);
  throw Error(FailureKind::usage, fmt::format("the {} of a job cannot be '{}'", what, printable(text, 200)),
              fmt::format("it begins with a letter or digit; then come these, or _ - + = . , : /; {} at most",
                          directive_bytes_max));
}

std::string job_label(std::string_view name) {
  std::string label(name.substr(0, label_bytes_max));
  for (char& c : label) {
    if (!is_letter_or_digit(c) && c != '-' && c != '.') c = '_';
  }
  if (label.empty() || !is_letter_or_digit(label.front())) label.insert(0, "job");
  return label;
}

}  // namespace sabath
