#include "resolvers/pages.h"

#include <fmt/format.h>

#include <functional>

#include "sabath/error.h"

namespace sabath {

void Pages::turn(std::string_view next, std::string_view first) {
  constexpr std::hash<std::string_view> hash;
  if (!nexts_.insert(hash(next)).second) refuse("its pages lead in a circle");
  if (!first.empty() && !firsts_.insert(hash(first)).second) refuse("two of its pages begin with the same entry");
  empty_ = first.empty() ? empty_ + 1 : 0;
  if (empty_ >= empty_pages_max) refuse(fmt::format("{} pages in a row hold no file", empty_));
  if (nexts_.size() >= pages_max) refuse(fmt::format("{} pages, and there is more", nexts_.size()));
}

void Pages::refuse(std::string_view why) const {
  throw Error(FailureKind::invalid, fmt::format("the listing of {} has no end: {}", listing_.display(), why),
              "name a smaller part of it: a deeper directory");
}

}  // namespace sabath
