// Emulated nodes: deals the ranks of a job on one machine to N nodes in blocks. For trials and tests
// (`--emulate-nodes`): all code that asks for nodes then sees these.
#pragma once

#include <memory>

#include "sabath/comm.h"

namespace sabath {

// `nodes` from 1 to comm.size(), else Error{usage}. It must not outlive `comm`.
[[nodiscard]] std::unique_ptr<Comm> emulate_nodes(Comm& comm, unsigned nodes);

}  // namespace sabath
