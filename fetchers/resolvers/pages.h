// The pages of one listing, each of which names the next: checks that they end, and do not lead in a circle. One object
// for each listing; one thread. Throws Error{invalid} for pages without an end.
#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_set>

#include "sabath/url.h"

namespace sabath {

class Pages {
 public:
  static constexpr std::size_t pages_max = 20'000;      // of the usual 1,000 entries: twice the files of a listing
  static constexpr std::size_t empty_pages_max = 1000;  // in a row: a store may pass over what was deleted

  explicit Pages(const Url& listing) : listing_(listing) {}

  // There is another page, asked for by `next`, behind one that begins with the entry `first`; "": it held none.
  void turn(std::string_view next, std::string_view first);

 private:
  [[noreturn]] void refuse(std::string_view why) const;

  const Url& listing_;
  std::unordered_set<std::size_t> nexts_, firsts_;  // hashes: a source could make the words long
  std::size_t empty_ = 0;                           // in a row
};

}  // namespace sabath
