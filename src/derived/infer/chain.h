// Models one after the other, judged before anything runs: what each takes must be given by the one before it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ort/tensor.h"

namespace sabath {

struct ModelSlots {
  std::string name;  // for people
  std::vector<TensorSlot> inputs, outputs;
};

// For each input of a model, which output of the one before it, by name; a model of one input takes the only output
// under any name. Throws Error{usage} where it does not fit: "b: it wants z[n,64] float32, and gets code[n,32]
// float32".
[[nodiscard]] std::vector<std::size_t> joint(const ModelSlots& giver, const ModelSlots& taker);

// How many samples the first model takes at once: its first length. nullopt: any number. Throws Error{usage} if its
// inputs have no first length, or not the same.
[[nodiscard]] std::optional<std::int64_t> batch_of(const ModelSlots& model);

}  // namespace sabath
