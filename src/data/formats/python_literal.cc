#include "formats/python_literal.h"

#include <charconv>
#include <system_error>

namespace sabath {
namespace {

constexpr unsigned nesting_max = 16;
constexpr std::size_t literals_max = 20'000;

using Kind = PythonLiteral::Kind;

class LiteralParser {
 public:
  explicit LiteralParser(std::string_view text) : rest_(text) {}

  bool whole(PythonLiteral& value) {
    if (!parse(value, 0)) return false;
    skip_blanks();
    return rest_.empty();
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t' || rest_[0] == '\r'))
      rest_.remove_prefix(1);
  }

  bool take(char wanted) {
    skip_blanks();
    if (rest_.empty() || rest_[0] != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool take_word(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  bool parse(PythonLiteral& value, unsigned depth) {
    if (depth > nesting_max || ++count_ > literals_max) return false;
    skip_blanks();
    if (rest_.empty()) return false;
    if (take('{')) return dictionary(value, depth);
    if (take('[')) return sequence(value, ']', depth);
    if (take('(')) return sequence(value, ')', depth);
    if (take_word("True") || take_word("False")) {
      value.kind = Kind::boolean;
      value.truth = *(rest_.data() - 2) == 'u';  // Tr-u-e
      return true;
    }
    if (take_word("None")) return true;
    const bool prefixed =
        rest_.size() > 1 && (rest_[0] == 'u' || rest_[0] == 'b') && (rest_[1] == '\'' || rest_[1] == '"');
    if (prefixed) rest_.remove_prefix(1);
    if (rest_[0] == '\'' || rest_[0] == '"') return quoted(value);
    return integer(value);
  }

  bool integer(PythonLiteral& value) {
    value.kind = Kind::integer;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value.number);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    take_word("L");  // of Python 2
    return true;
  }

  bool quoted(PythonLiteral& value) {
    value.kind = Kind::text;
    const char quote = rest_[0];
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_[0] != quote) {
      char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == '\n') return false;
      if (c == '\\' && !escaped(c)) return false;
      value.text += c;
    }
    return take_word(std::string_view(&quote, 1));
  }

  bool escaped(char& c) {
    if (rest_.empty()) return false;
    const char kind = rest_[0];
    rest_.remove_prefix(1);
    if (kind == 'x') {
      unsigned code = 0;
      if (rest_.size() < 2) return false;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + 2, code, 16);
      if (error != std::errc() || end != rest_.data() + 2) return false;
      rest_.remove_prefix(2);
      c = static_cast<char>(code);
      return true;
    }
    c = kind == 'n' ? '\n' : kind == 't' ? '\t' : kind;
    return kind == 'n' || kind == 't' || kind == '\\' || kind == '\'' || kind == '"';
  }

  bool sequence(PythonLiteral& value, char end, unsigned depth) {
    value.kind = end == ']' ? Kind::list : Kind::tuple;
    bool comma = false;
    while (!take(end)) {
      if (!value.items.empty() && !comma) return false;
      if (!parse(value.items.emplace_back(), depth + 1)) return false;
      comma = take(',');
    }
    if (value.kind != Kind::tuple || value.items.size() != 1 || comma) return true;
    PythonLiteral inner = std::move(value.items.front());  // (1) is 1
    value = std::move(inner);
    return true;
  }

  bool dictionary(PythonLiteral& value, unsigned depth) {
    value.kind = Kind::dictionary;
    bool comma = true;
    while (!take('}')) {
      if (!comma || !parse(value.items.emplace_back(), depth + 1) || !take(':')) return false;
      if (!parse(value.items.emplace_back(), depth + 1)) return false;
      comma = take(',');
    }
    return true;
  }

  std::string_view rest_;
  std::size_t count_ = 0;
};

}  // namespace

const PythonLiteral* PythonLiteral::find(std::string_view key) const {
  for (std::size_t i = 0; kind == Kind::dictionary && i + 1 < items.size(); i += 2) {
    if (items[i].kind == Kind::text && items[i].text == key) return &items[i + 1];
  }
  return nullptr;
}

std::optional<PythonLiteral> try_python_literal(std::string_view text) {
  PythonLiteral value;
  if (!LiteralParser(text).whole(value)) return std::nullopt;
  return value;
}

}  // namespace sabath
