// A model in ONNX Runtime, on CPUs. One call at a time.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ort/runtime.h"
#include "ort/tensor.h"

namespace sabath {

struct OrtOptions {
  unsigned threads = 0;                        // in an operator; 0: as many as the runtime likes
  bool optimise = true;                        // the graph, by everything that the runtime has
  std::filesystem::path optimised_file;        // where the optimised graph is written; empty: nowhere
  std::size_t output_bytes_max = 1ULL << 32U;  // of one output of one call
};

class OrtModel {
 public:
  // `graph`: the bytes of an ONNX file that has its weights within. Throws Error{invalid} with the runtime's words.
  OrtModel(std::shared_ptr<const OrtRuntime> runtime, std::span<const std::byte> graph, const std::string& name,
           const OrtOptions& options);
  // The same of a file, which may have weights in files beside it.
  OrtModel(std::shared_ptr<const OrtRuntime> runtime, const std::filesystem::path& file, const std::string& name,
           const OrtOptions& options);
  ~OrtModel();
  OrtModel(const OrtModel&) = delete;
  OrtModel& operator=(const OrtModel&) = delete;
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<TensorSlot>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<TensorSlot>& outputs() const { return outputs_; }
  // Inputs in the order of inputs(); returns all outputs in theirs. Throws Error{usage} for an input that does not fit,
  // Error{invalid} with the runtime's words for what it refuses.
  [[nodiscard]] std::vector<Tensor> run(std::span<const Tensor> inputs) const;

 private:
  void own(void** session);
  [[nodiscard]] std::vector<TensorSlot> slots(bool of_inputs) const;

  const std::shared_ptr<const OrtRuntime> runtime_;
  const std::string name_;
  const std::size_t output_bytes_max_;
  void* session_ = nullptr;
  std::vector<TensorSlot> inputs_, outputs_;
};

}  // namespace sabath
