#include "recipe/versions.h"

#include <algorithm>

#include "base/text.h"
#include "sabath/metadata.h"

namespace sabath {
namespace {

// A run of digits, without zeros before it, or a run of other characters but for the marks that part them.
std::string_view next_part(std::string_view& rest) {
  constexpr std::string_view marks = ".-_+";
  while (!rest.empty() && marks.find(rest.front()) != marks.npos) rest.remove_prefix(1);
  const bool number = !rest.empty() && is_digit(rest.front());
  std::size_t length = 0;
  while (length < rest.size() && is_digit(rest[length]) == number && marks.find(rest[length]) == marks.npos) ++length;
  std::string_view part = rest.substr(0, length);
  rest.remove_prefix(length);
  while (number && part.size() > 1 && part.front() == '0') part.remove_prefix(1);
  return part;
}

}  // namespace

bool is_later_version(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    const std::string_view left = next_part(a), right = next_part(b);
    if (left == right) continue;
    const bool left_number = !left.empty() && is_digit(left.front());
    const bool right_number = !right.empty() && is_digit(right.front());
    if (left_number && right_number) return left.size() != right.size() ? left.size() > right.size() : left > right;
    // What goes on with a number is later, and what goes on with a word ("rc1") is earlier.
    if (left.empty()) return !right_number;
    if (right.empty()) return left_number;
    return left_number != right_number ? left_number : left > right;
  }
  return false;
}

bool is_later(const Recipe& a, const Recipe& b) {
  if (!a.version.empty() && !b.version.empty() && a.version != b.version) return is_later_version(a.version, b.version);
  return metadata_of(a).published > metadata_of(b).published;
}

}  // namespace sabath
