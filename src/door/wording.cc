#include "door/wording.h"

namespace sabath {
namespace {

bool is_of_name(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

}  // namespace

std::string with_keys(std::string_view text) {
  std::string told;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || std::string_view(" (`'\"").find(text[at - 1]) != std::string_view::npos;
    const bool option = text.substr(at).starts_with("--") && at + 2 < text.size() && is_of_name(text[at + 2]);
    if (!begins || !option || text[at + 2] == '-') {
      told += text[at++];
      continue;
    }
    std::size_t end = at + 2;
    while (end < text.size() && is_of_name(text[end])) ++end;
    std::string key(text.substr(at + 2, end - at - 2));
    for (char& c : key) c = c == '-' ? '_' : c;
    told += '"' + key + '"';
    at = end;
  }
  return told;
}

}  // namespace sabath
