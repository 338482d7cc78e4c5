// Takes the network from the process that calls: the guardian's child, before it becomes the program. Allocates
// nothing.
#pragma once

#include "run/guarded_process.h"

namespace sabath::companion {

// A user and a network namespace of its own first: a process of root that shares the machine's user namespace could
// enter the machine's network again. Else a network namespace alone; else a filter that refuses sockets.
[[nodiscard]] Isolation leave_network();
// The filter alone: local sockets stay. False: this kernel or this kind of machine has none.
[[nodiscard]] bool refuse_sockets();

}  // namespace sabath::companion
