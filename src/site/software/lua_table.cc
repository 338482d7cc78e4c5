#include "software/lua_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "sabath/error.h"

namespace sabath {
namespace {

class LuaTables {
 public:
  LuaTables(std::string_view text, std::string_view origin, const LuaBounds& bounds)
      : text_(text), origin_(origin), bounds_(bounds) {
    if (text.size() > bounds.bytes) fail("it is too long");
  }

  std::map<std::string, LuaValue> read() {
    std::map<std::string, LuaValue> tables;
    for (skip_blanks(); at_ < text_.size(); skip_blanks()) {
      const std::string name = take_word();
      skip_blanks();
      expect('=');
      tables[name] = take_value(0);
      skip_blanks();
      if (peek() == ';') ++at_;
    }
    return tables;
  }

 private:
  [[noreturn]] void fail(std::string_view why) const {
    const auto line =
        std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())), '\n') + 1;
    throw Error(FailureKind::invalid, fmt::format("{}:{}: {}", origin_, line, why));
  }

  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void expect(char c) {
    if (peek() != c) fail(fmt::format("'{}' is expected", c));
    ++at_;
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (static_cast<unsigned char>(text_[at_]) <= ' ') {
        ++at_;
      } else if (text_.substr(at_).starts_with("--") && !text_.substr(at_).starts_with("--[")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  std::string take_word() {
    const auto begin = at_;
    const auto is_word = [](char c) {
      return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '-' ||
             c == '+';
    };
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == begin) fail("a name or a value is expected");
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string take_quoted() {
    const char quote = text_[at_++];
    std::string text;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        text += text_[at_] == 'n' ? '\n' : text_[at_] == 't' ? '\t' : text_[at_];
      } else {
        text += text_[at_];
      }
      ++at_;
    }
    expect(quote);
    return text;
  }

  std::string take_long_text() {
    const auto equals = text_.find_first_not_of('=', at_ + 1);
    if (equals == std::string_view::npos || text_[equals] != '[') fail("a text is expected");
    const std::string close = "]" + std::string(equals - at_ - 1, '=') + "]";
    const auto end = text_.find(close, equals);
    if (end == std::string_view::npos) fail("a text has no end");
    const std::string_view text = text_.substr(equals + 1, end - equals - 1);
    at_ = end + close.size();
    return std::string(text);
  }

  LuaValue take_value(unsigned depth) {
    skip_blanks();
    if (++values_ > bounds_.values) fail("it has too many values");
    if (depth > bounds_.depth) fail("its tables are too deep");
    LuaValue value;
    if (peek() == '"' || peek() == '\'') {
      value.text = take_quoted();
    } else if (peek() == '[') {
      value.text = take_long_text();
    } else if (peek() != '{') {
      value.text = take_word();
    } else {
      ++at_;
      take_members(value, depth);
    }
    return value;
  }

  void take_members(LuaValue& value, unsigned depth) {
    for (skip_blanks(); peek() != '}'; skip_blanks()) {
      std::string key;
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("[\"") || rest.starts_with("['") ||
          (rest.size() > 1 && rest[0] == '[' && is_digit(rest[1]))) {
        ++at_;
        key = is_digit(peek()) ? take_word() : take_quoted();
        expect(']');
        skip_blanks();
        expect('=');
        value.members.push_back({std::move(key), take_value(depth + 1)});
      } else {
        LuaValue one = take_value(depth + 1);
        skip_blanks();
        if (peek() == '=' && one.members.empty()) {
          ++at_;
          value.members.push_back({std::move(one.text), take_value(depth + 1)});
        } else {
          value.members.push_back({"", std::move(one)});
        }
      }
      skip_blanks();
      if (peek() == ',' || peek() == ';') {
        ++at_;
      } else if (peek() != '}') {
        fail("',' or '}' is expected");
      }
    }
    ++at_;
  }

  std::string_view text_, origin_;
  LuaBounds bounds_;
  std::size_t at_ = 0, values_ = 0;
};

}  // namespace

const LuaValue* LuaValue::find(std::string_view key) const {
  const auto found = std::ranges::find_if(members, [&](const auto& member) { return member.first == key; });
  return found == members.end() ? nullptr : &found->second;
}

std::map<std::string, LuaValue> parse_lua_tables(std::string_view text, std::string_view origin,
                                                 const LuaBounds& bounds) {
  return LuaTables(text, origin, bounds).read();
}

}  // namespace sabath
