#include "formats/import_name.h"

#include <algorithm>

namespace sabath {

bool is_program_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c >= 0x80;
  });
}

bool may_be_module(std::string_view text) {
  int open = 0;
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    open += (c == '(') - (c == ')');
    return c != '\0' && open >= 0;
  });
}

bool reads_as_words(std::string_view module) { return module.find(' ') != module.npos; }

}  // namespace sabath
