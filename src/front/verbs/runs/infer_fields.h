// The record of an inference as a table: `infer` gives it, and a task has it inside its own.
#pragma once

#include <string>
#include <vector>

#include "fields/fields.h"
#include "sabath/verbs/infer.h"

namespace sabath {

struct WeightsFile {  // as the record says it
  std::string file, sha256;
};

struct InferRuntime {
  std::string name, version;
  std::filesystem::path file;
};

template <>
struct Described<WeightsFile> {
  using Of = WeightsFile;
  static constexpr Field table[] = {
      SABATH_FIELD(file, .help = "its name, beside the model"),
      SABATH_FIELD(sha256, .help = "of its bytes, in hexadecimal digits"),
  };
};

template <>
struct Described<InferRuntime> {
  using Of = InferRuntime;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "what it is"),
      SABATH_FIELD(version, .help = "which one"),
      SABATH_FIELD(file, .help = "its library"),
  };
};

template <>
struct Described<InferModel> {
  using Of = InferModel;
  static std::string digits(const InferModel& model) { return model.sha256.hex(); }
  static std::vector<WeightsFile> weights_of(const InferModel& model) {
    std::vector<WeightsFile> all;
    for (const auto& [file, digest] : model.weights) all.push_back({file, digest.hex()});
    return all;
  }
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "as the request named it"),
      SABATH_VALUE("sha256", digits, .help = "of the ONNX file's bytes, in hexadecimal digits"),
      SABATH_FIELD(inputs, .help = "each with its shape and type: x[batch,32] float32"),
      SABATH_FIELD(outputs, .help = "the same"),
      SABATH_VALUE("weights", weights_of, .help = "those in files beside it", .null_if_empty = true,
                   .absent_if_empty = true),
  };
};

template <>
struct Described<InferRecord> {
  using Of = InferRecord;
  static InferRuntime runtime_of(const InferRecord& record) {
    return {"onnxruntime", record.runtime_version, record.runtime_file};
  }
  static constexpr Field table[] = {
      SABATH_FIELD(models, .help = "in the order in which data passed them"),
      SABATH_VALUE("runtime", runtime_of, .help = "what ran them"),
      SABATH_FIELD(output, .help = "where the results are"),
      SABATH_FIELD(result, .help = "what was written, with its shape and type"),
      SABATH_FIELD(samples, .help = "that were run"),
      SABATH_FIELD(batches, .help = "that they were run in"),
      SABATH_FIELD(batch, .help = "samples at a time"),
      SABATH_FIELD(bytes_read, .help = "of tensors", .unit = "bytes"),
      SABATH_FIELD(bytes_written, .help = "of tensors", .unit = "bytes"),
      SABATH_FIELD(load_seconds, .help = "reading samples", .unit = "seconds"),
      SABATH_FIELD(run_seconds, .help = "in the models", .unit = "seconds"),
      SABATH_FIELD(median_seconds, .help = "of a batch of full length; 0: there was one at most", .unit = "seconds"),
      SABATH_FIELD(p95_seconds, .help = "the same of the 95th percentile", .unit = "seconds"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

}  // namespace sabath
