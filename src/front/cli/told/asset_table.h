// The list of assets that `list` and `search` print, as a table, as names, or as the JSON record. One thread.
#pragma once

#include "cli/verb.h"
#include "sabath/verbs/list.h"

namespace sabath::cli {

void print_assets(Context& context, const ListRecord& record, bool names_only);

}  // namespace sabath::cli
