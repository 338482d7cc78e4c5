// The command line's spelling of the names in remedies (base/wording.h): "max_size" is --max-size, and "fetch" is
// `sabath fetch`.
#pragma once

#include "base/wording.h"

namespace sabath::cli {

extern const Wording wording_of_lines;

}  // namespace sabath::cli
