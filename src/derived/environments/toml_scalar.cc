#include "environments/toml_scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "base/number.h"
#include "base/text.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t toml_word_max = 64;

bool is_key_byte(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | code >> 6), add(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12), add(0x80 | (code >> 6 & 0x3F)), add(0x80 | (code & 0x3F));
  } else {
    add(0xF0 | code >> 18), add(0x80 | (code >> 12 & 0x3F)), add(0x80 | (code >> 6 & 0x3F)), add(0x80 | (code & 0x3F));
  }
}

// 2026-10-22T00:02:38Z, 2026-10-22 00:02:38.5+01:00, 2026-10-22, 00:02:38: not looked at any closer.
bool is_date(std::string_view word) {
  const auto shaped = [&](std::string_view shape) {
    return word.size() >= shape.size() && std::equal(shape.begin(), shape.end(), word.begin(),
                                                     [](char s, char c) { return s == '0' ? is_digit(c) : s == c; });
  };
  return (shaped("0000-00-00") || shaped("00:00")) &&
         word.find_first_not_of("0123456789-:TtZz.+ ") == std::string_view::npos;
}

// Digits with single underscores between them; nullopt: none.
std::optional<std::string> plain_digits(std::string_view word) {
  std::string digits;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '_') {
      digits += word[i];
    } else if (i == 0 || i + 1 == word.size() || word[i - 1] == '_' || word[i + 1] == '_') {
      return std::nullopt;
    }
  }
  return digits;
}

std::optional<std::uint64_t> whole(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return error == std::errc{} && end == digits.data() + digits.size() && !digits.empty() ? std::optional(value)
                                                                                         : std::nullopt;
}

}  // namespace

bool TomlScan::take(char c) noexcept {
  if (rest.empty() || rest.front() != c) return false;
  rest.remove_prefix(1);
  return true;
}

bool TomlScan::take(std::string_view text) noexcept {
  if (!rest.starts_with(text)) return false;
  rest.remove_prefix(text.size());
  return true;
}

void TomlScan::skip_blanks() noexcept { rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size())); }

void TomlScan::skip_comment() {
  const std::string_view comment = rest.substr(0, rest.find('\n'));
  for (const char c : comment)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r') || c == 0x7F)
      fail("a control character in a comment");
  rest.remove_prefix(comment.size());
}

void TomlScan::skip_lines() {
  for (;;) {
    skip_blanks();
    if (rest.starts_with('#')) skip_comment();
    if (rest.starts_with("\r\n")) rest.remove_prefix(1);
    if (!take('\n')) return;
    ++line;
  }
}

void TomlScan::end_line() {
  skip_blanks();
  if (rest.starts_with('#')) skip_comment();
  if (rest.starts_with("\r\n")) rest.remove_prefix(1);
  if (at_end()) return;
  if (!take('\n')) fail(fmt::format("does not end here: {}", printable(rest.substr(0, rest.find('\n')), 40)));
  ++line;
}

std::string TomlScan::key() {
  if (rest.starts_with('"') || rest.starts_with('\'')) {
    if (rest.starts_with("\"\"\"") || rest.starts_with("'''")) fail("a key is on one line");
    return text();
  }
  const auto end = std::find_if_not(rest.begin(), rest.end(), is_key_byte);
  std::string name(rest.begin(), end);
  if (name.empty()) fail(fmt::format("is no key: {}", printable(rest.substr(0, rest.find('\n')), 40)));
  rest.remove_prefix(name.size());
  return name;
}

void TomlScan::escape(std::string& text) {
  if (at_end()) fail("a text does not end");
  const char c = rest.front();
  rest.remove_prefix(1);
  constexpr std::string_view letters = "btnfr\"\\e", meanings = "\b\t\n\f\r\"\\\x1b";
  if (const auto at = letters.find(c); at != std::string_view::npos) {
    text += meanings[at];
    return;
  }
  const std::size_t length = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  const auto code = whole(rest.substr(0, length), 16);
  if (length == 0 || rest.size() < length || !code || *code > 0x10FFFF || (*code >= 0xD800 && *code < 0xE000))
    fail("an escape that has no meaning");
  rest.remove_prefix(length);
  append_utf8(text, static_cast<std::uint32_t>(*code));
}

std::string TomlScan::text() {
  for (const char quote : {'"', '\''})
    if (take(std::string(3, quote))) return inner(quote);
  const char quote = rest.front();
  rest.remove_prefix(1);
  std::string text;
  for (;;) {
    const std::size_t plain = std::min(rest.find_first_of(quote == '"' ? "\"\\\n" : "'\n"), rest.size());
    const std::string_view part = rest.substr(0, plain);
    if (std::ranges::any_of(part, [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7F; }))
      fail("a control character in a text");
    text += part;
    rest.remove_prefix(plain);
    if (take(quote)) return text;
    if (at_end() || !take('\\')) fail("a text does not end on its line");
    escape(text);
  }
}

std::string TomlScan::inner(char quote) {
  const std::string end(3, quote);
  std::string text;
  if (rest.starts_with("\r\n")) rest.remove_prefix(1);
  if (take('\n')) ++line;
  for (;;) {
    if (at_end()) fail("a text does not end");
    if (rest.starts_with(end)) {
      rest.remove_prefix(3);
      for (int more = 0; more < 2 && take(quote); ++more) text += quote;  // """"": two of them belong to the text
      return text;
    }
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '\n') ++line;
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F)
      fail("a control character in a text");
    if (c != '\\' || quote == '\'') {
      text += c;
      continue;
    }
    const std::size_t blank = std::min(rest.find_first_not_of(" \t\r"), rest.size());
    if (blank == rest.size() || rest[blank] != '\n') {
      escape(text);
      continue;
    }
    const std::size_t next = std::min(rest.find_first_not_of(" \t\r\n"), rest.size());
    line += static_cast<std::size_t>(std::count(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(next), '\n'));
    rest.remove_prefix(next);
  }
}

JsonValue TomlScan::word() {
  std::size_t end = std::min(rest.find_first_of(" \t\r\n,]}#="), rest.size());
  if (is_date(rest.substr(0, end)) && end == 10 && rest.size() > 12 && rest[10] == ' ' && is_digit(rest[11]))
    end = std::min(rest.find_first_of(" \t\r\n,]}#", 11), rest.size());
  const std::string_view word = rest.substr(0, end);
  if (word.empty() || word.size() > toml_word_max) fail("a value is missing, or is no TOML");
  JsonValue value;
  value.line = line;
  rest.remove_prefix(end);
  if (word == "true" || word == "false") {
    value.data = word == "true";
    return value;
  }
  if (is_date(word)) {
    value.data = std::string(word);
    return value;
  }
  const auto digits = plain_digits(word);
  if (digits) {
    const std::string_view number = *digits;
    for (const auto& [mark, base] : {std::pair("0x", 16), std::pair("0o", 8), std::pair("0b", 2)})
      if (number.starts_with(mark))
        if (const auto found = whole(number.substr(2), base)) {
          value.data = *found;
          return value;
        }
    const bool has_sign = number.starts_with('+') || number.starts_with('-');
    const std::string_view magnitude = number.substr(has_sign ? 1 : 0);
    const bool leading_zero = magnitude.size() > 1 && magnitude[0] == '0' && is_digit(magnitude[1]);
    if (const auto found = whole(magnitude, 10); found && !leading_zero) {
      if (number[0] == '-')
        value.data = JsonNumber{-static_cast<double>(*found), std::string(number)};
      else
        value.data = *found;
      return value;
    }
    const bool is_float = number.find_first_of(".eE") != std::string_view::npos;
    if (const auto found = is_float ? try_number(number) : std::nullopt;
        found && !leading_zero && !magnitude.empty() && is_digit(magnitude[0]) && is_digit(magnitude.back())) {
      value.data = JsonNumber{*found, std::string(number)};
      return value;
    }
  }
  fail(fmt::format("is no value of TOML: {}", printable(word, 40)));
}

JsonValue TomlScan::scalar() {
  if (!rest.starts_with('"') && !rest.starts_with('\'')) return word();
  JsonValue value;
  value.line = line;
  value.data = text();
  return value;
}

}  // namespace sabath
