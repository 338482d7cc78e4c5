// The formats, a function each: what one clean line (no prefix, no colours, no carriage return) says. Each gives
// Reading::Kind::none for a line that is not its own, and then leaves `reading` and `trace` as they were.
// `reading` comes cleared. One thread for each trace; no throw.
#pragma once

#include <string_view>

#include "metrics/reading.h"
#include "metrics/trace.h"

namespace sabath {

void read_keras(std::string_view line, Trace& trace, Reading& reading);
void read_tqdm(std::string_view line, Trace& trace, Reading& reading);
void read_sciml(std::string_view line, Trace& trace, Reading& reading);
void read_prints(std::string_view line, Trace& trace, Reading& reading);
void read_csv(std::string_view line, Trace& trace, Reading& reading);
void read_table(std::string_view line, Trace& trace, Reading& reading);

// What a line of JSON says: the leaves of its object, however they came to be known. `flat`: an object that must have
// an epoch or a step, because programs print others, too.
void read_mlperf(const std::vector<JsonLeaf>& leaves, Trace& trace, Reading& reading);
void read_json(const std::vector<JsonLeaf>& leaves, bool flat, Reading& reading);

}  // namespace sabath
