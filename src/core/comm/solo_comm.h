// The job of one process: every collective is done at once. No MPI.
#pragma once

#include <memory>

#include "sabath/comm.h"

namespace sabath {

[[nodiscard]] std::unique_ptr<Comm> make_solo_comm();

}  // namespace sabath
