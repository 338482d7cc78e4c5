// What a reader of hostile bytes may throw: an Error of a damaged file, whose text people can be shown.
#pragma once

#include <cstdlib>

#include "base/text.h"
#include "sabath/error.h"

inline void check(bool holds) {
  if (!holds) std::abort();
}

template <typename Work>
void expect_damage_or(Work work) {
  try {
    work();
  } catch (const sabath::Error& error) {
    const auto kind = error.failure().kind;
    check(kind == sabath::FailureKind::invalid || kind == sabath::FailureKind::content ||
          kind == sabath::FailureKind::usage);
    check(sabath::is_utf8(error.failure().message));
  }
}
