#include "infer/chain.h"

#include <fmt/format.h>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

std::string list_of(const std::vector<TensorSlot>& slots) {
  std::string text;
  for (const TensorSlot& slot : slots) text += (text.empty() ? "" : ", ") + text_of(slot);
  return text;
}

}  // namespace

std::vector<std::size_t> joint(const ModelSlots& giver, const ModelSlots& taker) {
  std::vector<std::size_t> from;
  for (const TensorSlot& input : taker.inputs) {
    std::size_t found = giver.outputs.size();
    for (std::size_t i = 0; i < giver.outputs.size(); ++i) {
      if (giver.outputs[i].name == input.name) found = i;
    }
    if (found == giver.outputs.size() && taker.inputs.size() == 1 && giver.outputs.size() == 1) found = 0;
    if (found == giver.outputs.size()) {
      throw Error(
          FailureKind::usage,
          fmt::format("{} wants {}, and {} gives {}", taker.name, text_of(input), giver.name, list_of(giver.outputs)),
          "name the models in the order in which data pass them; of several outputs the next model takes those "
          "of its inputs' names");
    }
    if (const auto why = why_not_fitting(input, giver.outputs[found]); !why.empty()) {
      throw Error(FailureKind::usage, fmt::format("{} after {}: {}", taker.name, giver.name, why),
                  "name the models in the order in which data pass them");
    }
    from.push_back(found);
  }
  return from;
}

std::optional<std::int64_t> batch_of(const ModelSlots& model) {
  std::optional<std::int64_t> batch;
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    const TensorSlot& input = model.inputs[i];
    if (input.shape.empty()) {
      throw Error(FailureKind::usage,
                  fmt::format("{} takes {}, which has no axis of samples", model.name, text_of(input)));
    }
    const auto length = input.shape[0] < 0 ? std::nullopt : std::optional(input.shape[0]);
    if (i > 0 && length != batch) {
      throw Error(FailureKind::usage, fmt::format("the inputs of {} take different numbers of samples: {}", model.name,
                                                  list_of(model.inputs)));
    }
    batch = length;
  }
  if (batch && *batch == 0) throw Error(FailureKind::usage, model.name + " takes 0 samples at once");
  return batch;
}

}  // namespace sabath
