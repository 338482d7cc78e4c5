// Pretended nodes: the ranks of a job on one machine, dealt to so many nodes in blocks. For trials and tests
// (`--emulate-nodes`): all that goes by nodes then goes by these.
#pragma once

#include <memory>

#include "sabath/comm.h"

namespace sabath {

// `nodes` from 1 to comm.size(), else Error{usage}. It must not outlive `comm`.
[[nodiscard]] std::unique_ptr<Comm> emulate_nodes(Comm& comm, unsigned nodes);

}  // namespace sabath
