// The marks and plain values of TOML: blanks, comments, keys, texts, numbers, truths, dates. One thread. Throws
// Error{invalid}. For toml.cc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/json_reader.h"

namespace sabath {

struct TomlScan {
  std::string_view rest, origin;
  std::size_t line = 1;

  [[nodiscard]] bool at_end() const noexcept { return rest.empty(); }
  bool take(char c) noexcept;
  bool take(std::string_view text) noexcept;
  void skip_blanks() noexcept;  // spaces and tabs
  void skip_lines();            // and comments and ends of lines
  void end_line();              // nothing but a comment may stand before it
  [[nodiscard]] std::string key();
  [[nodiscard]] JsonValue scalar();

 private:
  [[noreturn]] void fail(std::string_view why) const { throw_at(origin, line, why); }
  void skip_comment();
  std::string text();              // in quotes
  std::string inner(char quote);   // of """ or '''
  void escape(std::string& text);  // behind the backslash
  JsonValue word();                // a number, a truth, a date
};

}  // namespace sabath
