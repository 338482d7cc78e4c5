// Models in ONNX form, run over samples on CPUs (docs/infer.md). ONNX Runtime is loaded: SABATH_ORT names its library,
// else that of the active Python or Conda environment is taken. Throws Error{usage} for what does not fit, before
// anything runs; {not_found}, {offline} for a model; {unavailable}: no runtime; {invalid}: no model, or no such file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "sabath/digest.h"
#include "sabath/environment.h"
#include "sabath/event.h"

namespace sabath {

class Session;

struct InferRequest {
  // In the order in which data pass them: an .onnx file, an asset with one .onnx file, or ASSET:PATH.
  std::vector<std::string> models;
  // By the names of the first model's inputs; "" means the only one. .npy, .npz, .csv, .txt, .json; the first axis
  // counts.
  std::map<std::string, std::filesystem::path> inputs;
  std::filesystem::path output;  // ends with one of these, but .npz
  std::string result;            // the output of the last model that is written; "": its only one
  std::uint64_t batch = 0;       // samples at a time; 0: chosen
  unsigned threads = 0;          // 0: the runtime chooses
  bool optimise = true;
  // latency.json of the batches, as reports of latencies read it; a file to which metrics are appended, as log_line()
  // does. Empty: none.
  std::filesystem::path latency_file, metrics_file;
  Environment environment;  // of the process
};

struct InferModel {
  std::string name;
  Sha256 sha256;                                             // of the ONNX file's bytes
  std::vector<std::string> inputs, outputs;                  // "x[batch,32] float32"
  std::vector<std::pair<std::string, Sha256>> weights = {};  // in files beside it, by their names
};

struct InferRecord {
  std::vector<InferModel> models;
  std::string runtime_version;
  std::filesystem::path runtime_file, output;
  std::string result;  // "y[1000,3] float32"
  std::uint64_t samples = 0, batches = 0, batch = 0;
  std::uint64_t bytes_read = 0, bytes_written = 0;  // of tensors
  double load_seconds = 0, run_seconds = 0;         // reading samples; in the models
  // Of the batches of full length, all but the first; 0: there is no such.
  double median_seconds = 0, p95_seconds = 0;
  int exit = 0;
};

[[nodiscard]] InferRecord infer(Session& session, const InferRequest& request, EventSink& events,
                                std::stop_token stop = {});
[[nodiscard]] std::string to_json(const InferRecord& record);

}  // namespace sabath
