// What a function that must throw says.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "sabath/error.h"

namespace sabath {

template <typename Function>
std::string refusal_of(Function function, FailureKind kind = FailureKind::invalid) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(name(error.failure().kind), name(kind)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

}  // namespace sabath
