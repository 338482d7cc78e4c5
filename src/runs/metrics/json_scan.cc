#include "metrics/json_scan.h"

#include <fmt/format.h>

#include <cstring>

#include "base/number.h"
#include "base/text.h"
#include "metrics/words.h"

namespace sabath {
namespace {

constexpr int depth_max = 64;

class Scanner {
 public:
  Scanner(std::string_view text, std::vector<JsonLeaf>& leaves) : text_(text), leaves_(leaves) {}
  std::optional<std::size_t> scan() {
    if (!object(0)) return std::nullopt;
    return at_;
  }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  bool quoted(std::string_view& content) {
    skip_blanks();
    const char quote = peek();
    if (quote != '"' && quote != '\'') return false;
    const std::size_t begin = ++at_;
    while (at_ < text_.size()) {
      if (text_[at_] == '\\') {
        at_ += 2;
      } else if (text_[at_] == quote) {
        content = text_.substr(begin, at_ - begin);
        ++at_;
        return true;
      } else {
        ++at_;
      }
    }
    return false;
  }

  // Python prints its own objects with single quotes; their words are known, too.
  bool object(int depth) {
    if (depth > depth_max || !take('{')) return false;
    if (take('}')) return true;
    const bool outer = depth == 0, inner = depth == 1 && leaf_.index < 0;
    const int deeper = outer || inner ? 0 : 1;
    deep_ += deeper;
    do {
      std::string_view key;
      if (!quoted(key)) return false;
      if (outer) leaf_.outer = key;
      if (inner) leaf_.inner = key;
      if (!take(':') || !value(depth + 1)) return false;
    } while (take(','));
    if (inner) leaf_.inner = {};
    deep_ -= deeper;
    return take('}');
  }

  bool array(int depth) {
    if (depth > depth_max || !take('[')) return false;
    if (take(']')) return true;
    const bool counted = leaf_.index < 0;
    deep_ += counted ? 0 : 1;
    int index = 0;
    do {
      if (counted) leaf_.index = index++;
      if (!value(depth + 1)) return false;
    } while (take(','));
    if (counted) leaf_.index = -1;
    deep_ -= counted ? 0 : 1;
    return take(']');
  }

  bool value(int depth) {
    skip_blanks();
    if (peek() == '{') return object(depth);
    if (peek() == '[') return array(depth);
    JsonLeaf leaf = leaf_;
    if (!scalar(leaf)) return false;
    if (deep_ == 0) leaves_.push_back(leaf);
    return true;
  }

  bool scalar(JsonLeaf& leaf) {
    if (peek() == '"' || peek() == '\'') {
      leaf.kind = JsonLeaf::Kind::text;
      return quoted(leaf.text);
    }
    std::string_view rest = text_.substr(at_);
    for (const std::string_view word : {"true", "false", "null", "True", "False", "None"}) {
      if (!rest.starts_with(word)) continue;
      leaf.kind = word == "null" || word == "None" ? JsonLeaf::Kind::null : JsonLeaf::Kind::boolean;
      at_ += word.size();
      return true;
    }
    const bool wrapped = take_wrapper(rest);
    const NumberPrefix number = number_prefix(rest);
    leaf.kind = JsonLeaf::Kind::number;
    leaf.number = number.value;
    leaf.text = rest.substr(0, number.length);
    at_ = text_.size() - rest.size() + number.length;
    return number.length > 0 && (!wrapped || take(')'));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  JsonLeaf leaf_;  // where we are
  int deep_ = 0;   // containers that are too deep to be told
  std::vector<JsonLeaf>& leaves_;
};

std::optional<unsigned> hex4(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  unsigned value = 0;
  for (const char c : text.substr(0, 4)) {
    const char* const digits = "0123456789abcdef";
    const char* const found = c == '\0' ? nullptr : std::strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
    if (found == nullptr) return std::nullopt;
    value = value * 16 + static_cast<unsigned>(found - digits);
  }
  return value;
}

void put_utf8(std::string& out, unsigned code) {
  const auto put = [&out](unsigned byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

// The code point of the \uXXXX at `at` (after the backslash), two of them for a surrogate pair; moves `at` to its end.
std::optional<unsigned> escaped_code(std::string_view text, std::size_t& at) {
  const auto high = hex4(text.substr(at + 1));
  if (!high) return std::nullopt;
  if (*high < 0xd800 || *high > 0xdfff) {
    at += 4;
    return high;
  }
  if (*high > 0xdbff || !text.substr(at + 5).starts_with("\\u")) return std::nullopt;
  const auto low = hex4(text.substr(at + 7));
  if (!low || *low < 0xdc00 || *low > 0xdfff) return std::nullopt;
  at += 10;
  return 0x10000 + ((*high - 0xd800) << 10) + (*low - 0xdc00);
}

}  // namespace

std::optional<std::size_t> scan_json_object(std::string_view text, std::vector<JsonLeaf>& leaves) {
  leaves.clear();
  return Scanner(text, leaves).scan();
}

std::string json_unescape(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      plain += text[at];
      continue;
    }
    constexpr std::string_view escapes = "nrtbf\"\\/'", meanings = "\n\r\t\b\f\"\\/'";
    ++at;
    if (const std::size_t which = escapes.find(text[at]); which != std::string_view::npos) {
      plain += meanings[which];
      continue;
    }
    const auto code = text[at] == 'u' ? escaped_code(text, at) : std::nullopt;
    if (code) {
      put_utf8(plain, *code);
    } else {
      plain += '\\';
      plain += text[at];
    }
  }
  return plain;
}

std::string json_quote(std::string_view text) {
  std::string quoted = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t length = utf8_sequence(text.substr(at));
    if (length == 0) {
      quoted += "\xef\xbf\xbd";
      ++at;
    } else if (byte == '"' || byte == '\\') {
      quoted += '\\';
      quoted += text[at++];
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\u{:04x}", byte);
      ++at;
    } else {
      quoted.append(text, at, length);
      at += length;
    }
  }
  return quoted + '"';
}

}  // namespace sabath
