// The original of a merged graph: its models, one after the other, in ONNX Runtime. No engine has a say in what they
// give. One thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "convert/input_sets.h"
#include "convert/witness.h"
#include "ort/runtime.h"

namespace sabath {

class ChainOriginal {
 public:
  // Throws Error{usage} where the models do not fit, and what OrtModel throws.
  ChainOriginal(std::shared_ptr<const OrtRuntime> runtime, std::vector<std::filesystem::path> files);
  // For each model but the first: which output of the one before it is which of its inputs.
  using Joint = std::vector<std::pair<std::string, std::string>>;
  [[nodiscard]] const std::vector<Joint>& joints() const noexcept { return joints_; }
  // What it gives for each set. Throws Error{usage} for inputs that do not fit.
  [[nodiscard]] std::vector<OriginalRuns> run(const std::vector<InputSet>& sets) const;
  [[nodiscard]] std::vector<Timing> time(const std::vector<InputSet>& sets,
                                         const std::vector<std::string>& timed) const;

 private:
  struct Chain;
  std::shared_ptr<const OrtRuntime> runtime_;
  std::vector<std::filesystem::path> files_;
  std::vector<Joint> joints_;
};

}  // namespace sabath
