// `gc` as hosts and the command line call it: a collection, or the undoing of the last one. Plain value.
#pragma once

#include "sabath/verbs/gc.h"

namespace sabath {

struct CollectionCall : CollectionRequest {
  bool undo = false;  // alone
};

// Throws Error{usage} where a collection is described beside the undoing.
void check_undo(const CollectionCall& call);

}  // namespace sabath
