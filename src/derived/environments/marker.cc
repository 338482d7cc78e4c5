#include "environments/marker.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "environments/package_name.h"
#include "environments/python_version.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t marker_length_max = 8192;
constexpr unsigned marker_depth_max = 32;

struct Operand {
  std::string text;
  bool is_literal = false;
  std::string variable;
  const std::set<std::string>* names = nullptr;  // of `extras` and `dependency_groups`
};

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '.';
}

bool is_version_variable(std::string_view name) {
  return name == "python_version" || name == "python_full_version" || name == "implementation_version";
}

bool compare_texts(const std::string& a, std::string_view op, const std::string& b) {
  if (op == "==" || op == "===") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  return a >= b;
}

class MarkerReader {
 public:
  MarkerReader(std::string_view text, const MarkerValues& values, std::string_view what)
      : rest_(text), values_(values), what_(what) {}

  bool read() {
    const bool result = any(0);
    skip();
    if (!rest_.empty()) fail(fmt::format("ends before {}", printable(rest_, 40)));
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(FailureKind::invalid, fmt::format("{} {}", what_, why), "markers are described in PEP 508");
  }
  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool take_word(std::string_view word) {
    skip();
    if (!rest_.starts_with(word) || (rest_.size() > word.size() && is_word_byte(rest_[word.size()]))) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  bool any(unsigned depth) {
    bool result = all(depth);
    while (take_word("or")) result = all(depth) || result;
    return result;
  }
  bool all(unsigned depth) {
    bool result = one(depth);
    while (take_word("and")) result = one(depth) && result;
    return result;
  }
  bool one(unsigned depth) {
    if (depth > marker_depth_max) fail("is nested too deep");
    skip();
    if (!rest_.starts_with('(')) return comparison();
    rest_.remove_prefix(1);
    const bool result = any(depth + 1);
    skip();
    if (!rest_.starts_with(')')) fail("has a ( without its )");
    rest_.remove_prefix(1);
    return result;
  }

  std::string operation() {
    skip();
    if (take_word("in")) return "in";
    if (take_word("not")) {
      if (!take_word("in")) fail("has a `not` without `in`");
      return "not in";
    }
    for (const std::string_view op : {"===", "==", "!=", "<=", ">=", "~=", "<", ">"}) {
      if (!rest_.starts_with(op)) continue;
      rest_.remove_prefix(op.size());
      return std::string(op);
    }
    fail(fmt::format("has no comparison before {}", printable(rest_, 40)));
  }

  Operand operand() {
    skip();
    Operand result;
    if (rest_.empty()) fail("ends too early");
    const char quote = rest_.front();
    if (quote == '"' || quote == '\'') {
      const std::size_t end = rest_.find(quote, 1);
      if (end == std::string_view::npos) fail("has a text without its end");
      result.text = rest_.substr(1, end - 1);
      result.is_literal = true;
      rest_.remove_prefix(end + 1);
      return result;
    }
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_word_byte);
    result.variable.assign(rest_.begin(), end);
    rest_.remove_prefix(result.variable.size());
    set_value(result);
    return result;
  }

  void set_value(Operand& operand) const {
    const WheelTarget& target = *values_.target;
    const std::string& name = operand.variable;
    const std::pair<std::string_view, std::string> known[] = {
        {"python_version", fmt::format("{}.{}", target.major, target.minor)},
        {"python_full_version", target.full_version},
        {"os_name", "posix"},
        {"os.name", "posix"},
        {"sys_platform", "linux"},
        {"sys.platform", "linux"},
        {"platform_machine", target.machine},
        {"platform.machine", target.machine},
        {"platform_system", "Linux"},
        {"platform_python_implementation", "CPython"},
        {"platform.python_implementation", "CPython"},
        {"python_implementation", "CPython"},
        {"implementation_name", "cpython"},
        {"implementation_version", target.full_version},
        {"platform_release", ""},
        {"platform_version", ""},
        {"platform.version", ""},  // of a kernel: nodes differ
        {"extra", normal_name(values_.extra).value_or("")}};
    if (name == "extras") {
      operand.names = &values_.extras;
    } else if (name == "dependency_groups") {
      operand.names = &values_.groups;
    } else if (const auto* const found =
                   std::ranges::find(known, name, &std::pair<std::string_view, std::string>::first);
               found != std::end(known)) {
      operand.text = found->second;
    } else {
      fail(fmt::format("asks for {}, which no target has", name.empty() ? printable(rest_, 40) : printable(name)));
    }
  }

  bool comparison() {
    const Operand left = operand();
    const std::string op = operation();
    const Operand right = operand();
    if (left.names != nullptr || (right.names != nullptr && op != "in" && op != "not in"))
      fail("compares a set of names: only `in` and `not in` go with it");
    if (op == "in" || op == "not in") {
      const bool found = right.names != nullptr ? right.names->contains(normal_name(left.text).value_or(left.text))
                                                : right.text.find(left.text) != std::string::npos;
      return found == (op == "in");
    }
    if (left.variable == "extra" || right.variable == "extra")
      return compare_texts(normal_name(left.text).value_or(left.text), op,
                           normal_name(right.text).value_or(right.text));
    if (is_version_variable(left.variable) || is_version_variable(right.variable))
      if (const auto result = compare_as_versions(left, op, right)) return *result;
    if (op == "~=") fail("compares texts by ~=");
    return compare_texts(left.text, op, right.text);
  }

  static std::optional<bool> compare_as_versions(const Operand& left, const std::string& op, const Operand& right) {
    const bool is_turned = left.is_literal;
    constexpr std::pair<std::string_view, std::string_view> turned[] = {
        {"<", ">"}, {">", "<"}, {"<=", ">="}, {">=", "<="}};
    std::string_view used = op;
    if (is_turned)
      if (const auto* const found =
              std::ranges::find(turned, std::string_view(op), &std::pair<std::string_view, std::string_view>::first);
          found != std::end(turned))
        used = found->second;
    const auto version = try_python_version(is_turned ? right.text : left.text);
    const auto specifier = try_version_specifier(fmt::format("{}{}", used, is_turned ? left.text : right.text));
    if (!version || !specifier) return std::nullopt;
    return meets(*version, *specifier);
  }

  std::string_view rest_;
  const MarkerValues& values_;
  const std::string_view what_;
};

}  // namespace

bool holds(std::string_view marker, const MarkerValues& values, std::string_view what) {
  if (trim(marker).empty()) return true;
  if (marker.size() > marker_length_max)
    throw Error(FailureKind::invalid, fmt::format("{} is longer than {} bytes", what, marker_length_max));
  return MarkerReader(marker, values, what).read();
}

}  // namespace sabath
