// The inputs that a conversion is judged by; none of them is chosen by the converter. Reads files; one thread. Throws
// Error{usage} for arrays that do not belong together, and what arrays.h says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ort/tensor.h"

namespace sabath {

struct InputSet {
  std::string name;  // "dummy", "data", "random", "zeros", "one"
  std::vector<Tensor> inputs;
  [[nodiscard]] std::int64_t batch() const { return inputs.front().shape.empty() ? 0 : inputs.front().shape.front(); }
};

struct InputChoice {
  std::vector<std::filesystem::path> dummy, data;  // .npy, one for each input; one of the two may be empty
  std::uint64_t samples = 0;                       // of the data; 0: 32, or all of fewer
  std::uint64_t seed = 0;                          // by which they are drawn, and random values are made
  bool any_batch = true;                           // else each set has as many samples as the dummy
};

struct InputSets {
  std::vector<InputSet> sets;       // the dummy first
  std::vector<std::uint64_t> rows;  // of the data that were drawn, ascending
};

[[nodiscard]] InputSets make_input_sets(const InputChoice& choice);

// The next of a stream of numbers: SplitMix64, so that anybody can draw the same by the seed.
[[nodiscard]] std::uint64_t next_random(std::uint64_t& state) noexcept;

}  // namespace sabath
