// The layout of a tree of files as it stands in requests.
#pragma once

#include "fields/fields.h"
#include "sabath/verbs/view.h"

namespace sabath {

template <>
struct WordsOf<ViewLayout> {
  static constexpr std::string_view words = "files|hf";
  static constexpr std::string_view text(ViewLayout layout) { return layout == ViewLayout::hub ? "hf" : "files"; }
  static constexpr std::optional<ViewLayout> parse(std::string_view text) {
    return text == "hf" ? ViewLayout::hub : ViewLayout::files;
  }
};

}  // namespace sabath
