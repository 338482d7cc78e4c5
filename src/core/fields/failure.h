// A failure as it stands in records.
#pragma once

#include "fields/fields.h"
#include "sabath/error.h"

namespace sabath {

template <>
struct WordsOf<FailureKind> {
  static constexpr std::string_view words = {};  // docs/exit-codes.md
  static std::string_view text(FailureKind kind) { return name(kind); }
};

template <>
struct Described<Failure> {
  using Of = Failure;
  static constexpr Field table[] = {
      SABATH_FIELD(kind, .help = "the kind, as docs/exit-codes.md has them"),
      SABATH_FIELD(message, .help = "one line"),
      SABATH_FIELD(hint, .help = "what to do next", .null_if_empty = true),
  };
};

}  // namespace sabath
