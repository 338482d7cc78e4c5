// "Train Loss: 0.73 | Val Loss: 0.66", "loss=0.12 acc=0.9": names and numbers in a sentence. Pure; one thread; no
// throw.
#pragma once

#include <string_view>

#include "metrics/reading.h"

namespace sabath {

// Adds what is a name, a colon or an equals sign, and a number; a name that says a position gives the position. A cell
// of words alone between bars gives its name to those that follow: "FT | Train Loss: 0.73" is "FT Train Loss".
// Anything else is skipped.
// A number in brackets behind a value is its average: "loss: 0.50 (0.48)" is "loss" and "loss avg".
void take_pairs(std::string_view text, Reading& reading);

// "train loss 4.5, val loss 4.6": nothing but names, blanks and numbers, and one of the names is a metric's. False, and
// nothing added, if there is anything else.
bool take_words(std::string_view text, Reading& reading);

[[nodiscard]] bool is_metric_name(std::string_view text);   // may be one: letters first, few blanks
[[nodiscard]] bool has_metric_word(std::string_view name);  // "loss", "acc", ... is a word of it, or its end

// Is there a metric's name with a number behind it ("loss 0.5", "'acc': 1,5")? For lines that no format understood.
[[nodiscard]] bool looks_like_metrics(std::string_view line);

}  // namespace sabath
