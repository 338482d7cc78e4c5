// "Train Loss: 0.73 | Val Loss: 0.66", "loss=0.12 acc=0.9": names and numbers in a sentence. Pure; one thread; no
// throw.
#pragma once

#include <string_view>

#include "metrics/reading.h"

namespace sabath {

// Adds what is a name, a colon or an equals sign, and a number; a name that says a position gives the position. A cell
// of words alone between bars gives its name to those that follow: "FT | Train Loss: 0.73" is "FT Train Loss".
// Anything else is skipped.
void take_pairs(std::string_view text, Reading& reading);

}  // namespace sabath
