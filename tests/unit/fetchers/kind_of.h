// The kind of failure of a call. Any thread.
#pragma once

#include <functional>

#include "sabath/error.h"

namespace sabath {

// internal: it does not fail.
inline FailureKind kind_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.failure().kind;
  }
  return FailureKind::internal;
}

}  // namespace sabath
