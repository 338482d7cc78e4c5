// An array of NumPy's as `inspect` tells it. Pure; any thread.
#pragma once

#include <string_view>

#include "formats/npy.h"
#include "sabath/path.h"
#include "sabath/verbs/inspect.h"

namespace sabath {

[[nodiscard]] inline FileArray array_of(const Npy& npy, std::string_view name) {
  return {printable(name), npy.descr, npy.shape, npy.fortran_order, npy.objects, npy.data_bytes};
}

}  // namespace sabath
