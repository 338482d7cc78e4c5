// The literals of Python that stand in headers: numbers, texts, True, False, None, tuples, lists and dictionaries. No
// expression is evaluated. Bounded in depth and in values. Pure; any thread. Source: The Python Language Reference,
// 2.4 and 6.2, without escapes of texts but \\, \', \", \n, \t, \xNN.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct PythonLiteral {
  enum class Kind { none, boolean, integer, text, tuple, list, dictionary };
  Kind kind = Kind::none;
  bool truth = false;
  std::int64_t number = 0;
  std::string text;
  std::vector<PythonLiteral> items;  // of a dictionary: key, value, key, value

  [[nodiscard]] const PythonLiteral* find(std::string_view key) const;  // in a dictionary
  [[nodiscard]] bool is_sequence() const { return kind == Kind::tuple || kind == Kind::list; }
};

// The one literal of `text`, with blanks around it; nullopt for any other text.
[[nodiscard]] std::optional<PythonLiteral> try_python_literal(std::string_view text);

}  // namespace sabath
