// A selection of an HDF5 file on its way into another format. One thread at a time.
#pragma once

#include <string>
#include <vector>

#include "builtin/builtin.h"
#include "formats/bytes.h"

namespace sabath::conversion {

// What the selection `text` of the input is, without its data.
[[nodiscard]] Extracted describe_selection(const BuiltinCall& call, Workbench& bench, const std::string& text);
// Its bytes into `out` from `offset` on.
void extract_selection(const BuiltinCall& call, Workbench& bench, const std::string& text, const NewFile& out,
                       std::uint64_t offset);
// Its numbers as float32; at most a million.
[[nodiscard]] std::vector<float> extract_floats(const BuiltinCall& call, Workbench& bench, const std::string& text);

}  // namespace sabath::conversion
