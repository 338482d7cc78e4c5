#include "conda/placeholder.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "sabath/error.h"

namespace sabath {
namespace {

bool goes_on_as_name(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("._-+").find(c) != std::string_view::npos;
}

// Where `old` stands next; npos: nowhere.
std::size_t next_of(std::string_view text, const PlaceSwap& swap, std::size_t at) {
  for (; (at = text.find(swap.old, at)) != std::string_view::npos; at += swap.old.size()) {
    const std::size_t after = at + swap.old.size();
    if (!swap.whole_names || after >= text.size() || !goes_on_as_name(text[after])) return at;
  }
  return at;
}

}  // namespace

SwappedText swap_in_text(std::string_view text, const PlaceSwap& swap) {
  SwappedText swapped;
  std::size_t done = 0;
  if (!swap.old.empty())
    for (std::size_t at = 0; (at = next_of(text, swap, at)) != std::string_view::npos; at = done) {
      swapped.text.append(text.substr(done, at - done)).append(swap.by);
      done = at + swap.old.size();
      ++swapped.times;
    }
  swapped.text.append(text.substr(done));
  return swapped;
}

SwappedText swap_in_binary(std::string_view bytes, const PlaceSwap& swap) {
  SwappedText swapped;
  std::size_t done = 0;
  if (!swap.old.empty())
    for (std::size_t at = 0; (at = next_of(bytes, swap, at)) != std::string_view::npos; at = done) {
      const std::size_t end = bytes.find('\0', at);
      if (end == std::string_view::npos) break;
      const SwappedText one = swap_in_text(bytes.substr(at, end - at), swap);
      swapped.text.append(bytes.substr(done, at - done)).append(one.text);
      swapped.times += one.times;
      done = end;
      if (one.text.size() <= end - at) {
        swapped.text.append(end - at - one.text.size(), '\0');
        continue;
      }
      if (swap.by.size() > swap.room)
        throw Error(FailureKind::invalid, fmt::format("has space for a place of {} bytes", swap.room));
      const std::size_t more = one.text.size() - (end - at);
      const std::string_view behind = bytes.substr(end, more + 1);
      if (behind.size() != more + 1 || behind.find_first_not_of('\0') != std::string_view::npos)
        throw Error(FailureKind::invalid, "has less space behind the old place than its package left there");
      done += more;
    }
  swapped.text.append(bytes.substr(done));
  return swapped;
}

}  // namespace sabath
