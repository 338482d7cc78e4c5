// Selections matched with a file: which datasets, by which ranges. One thread at a time.
#pragma once

#include <string>
#include <vector>

#include "hdf5/selection.h"
#include "hdf5/source.h"

namespace sabath::h5 {

struct Wanted {
  Hyperslab selection;  // of a dataset: never of a group
  bool named = true;    // false: found below a group, or because the rest is wanted
};

struct WantedList {
  std::vector<Wanted> datasets;       // named ones in the order given, then the others by path
  std::vector<std::string> left_out;  // links that were met on the way
};

// Throws Error{not_found} with a hint for a path that is not there, {invalid} for one that leads outside the file,
// {usage} for a dataset that is named twice or a group with an index.
[[nodiscard]] WantedList match(const Source& source, const Selections& selections, bool rest);

}  // namespace sabath::h5
