// A chain of models over the samples of files, a batch at a time, in bounded memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "infer/chain.h"
#include "infer/samples.h"
#include "ort/model.h"

namespace sabath {

struct Inference {
  std::vector<const OrtModel*> models;
  std::map<std::string, std::filesystem::path> inputs;  // by the first model's names; "": its only one
  std::string output;                                   // of the last model; "": its only one
  std::filesystem::path out;
  std::uint64_t batch = 0;  // samples at a time; 0: as the model says, else as many as fit 16 MiB
};

struct InferenceDone {
  std::uint64_t samples = 0, batches = 0, batch = 0;
  std::uint64_t bytes_read = 0, bytes_written = 0;  // of tensors
  TensorSlot output;                                // its shape begins with the number of samples
  double load_seconds = 0, run_seconds = 0;         // reading samples; in the models
};

// Everything is judged before anything runs: names, types, shapes, numbers of samples, the ending of `out`. `out`
// appears when it is whole. `progress` is told after each batch: how many samples are done, and its seconds in the
// models. Throws Error{usage}, {invalid}, {interrupted} and what files throw.
InferenceDone infer(const Inference& wanted, const std::function<void(std::uint64_t samples, double seconds)>& progress,
                    const std::stop_token& stop);

[[nodiscard]] ModelSlots slots_of(const OrtModel& model);

}  // namespace sabath
