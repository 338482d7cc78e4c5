// The witness of a conversion: runs the converted model in ONNX Runtime on each set of inputs, and compares what it
// gives with what the original gave. No word of the engine that converted counts. One thread.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convert/compare.h"
#include "convert/input_sets.h"
#include "ort/runtime.h"
#include "record/latency.h"
#include "sabath/verbs/inspect.h"

namespace sabath {

// What the original gave for one set, as .npy files say it.
struct OriginalRuns {
  std::vector<Tensor> first, again, threads;  // by output: with one thread, once more, with two
};

struct JudgedOutput {
  std::string name;
  TensorType original = TensorType::float32, converted = TensorType::float32;
  OutputDifference difference;  // of the graph as it is
  OutputDifference optimised;   // of the graph that the runtime optimised
  OutputDifference noise;  // of the original against itself: the larger one of two runs and of two numbers of threads
};

struct OutputMeasure {  // by what an output is judged, of all sets
  std::string name;
  Yardstick yardstick;
  bool is_noisy = false;  // the original differs from itself by more than is allowed
};

struct JudgedSet {
  std::string name;
  std::int64_t batch = 0;
  std::string trouble;  // the converted model could not be run on it, or the original gave no outputs
  std::vector<JudgedOutput> outputs;
  [[nodiscard]] bool is_equal() const;
};

// Wall-clock seconds of one call, over several.
struct Timing {
  std::string what;  // as of LatencyRow
  std::string set;
  std::int64_t batch = 0;
  std::uint64_t calls = 0, warm_up = 0;
  unsigned threads = 0;
  double median_seconds = 0, p95_seconds = 0;
};
[[nodiscard]] Timing timing_of(std::vector<double> seconds);
// Some calls for half a second, after three that do not count.
[[nodiscard]] Timing timing_of_calls(const std::function<void()>& call);

struct StatedTerms {
  std::vector<std::string> input_names, output_names;  // empty: any
  std::optional<std::uint64_t> opset;
  bool any_batch = true;
  std::optional<TensorType> precision;       // outputs of more bits than this may be of it
  std::optional<double> absolute, relative;  // instead of the usual tolerance
  std::string stochastic;                    // why the original's own noise is no failure; "": it is one
};

// From good to bad. unjudged: rounding hides what the original does, or it gives no numbers.
enum class ConversionVerdict { equal, stochastic, unjudged, failed };
[[nodiscard]] std::string_view name(ConversionVerdict verdict) noexcept;

struct ConversionJudgement {
  ConversionVerdict verdict = ConversionVerdict::failed;
  std::vector<std::string> findings;  // why it is not equal, each a sentence
  std::vector<std::string> notes;     // what a user should know besides
  std::vector<JudgedSet> sets;
  std::vector<OutputMeasure> measures;  // by output
  std::vector<Timing> timings;          // of the converted model
};

class Witness {
 public:
  // `file`: the converted model; files beside it may hold weights. Throws Error{invalid} if it is no ONNX file.
  Witness(std::shared_ptr<const OrtRuntime> runtime, std::filesystem::path file, StatedTerms expected);
  [[nodiscard]] const GraphFacts& graph() const noexcept { return graph_; }
  // `originals`: one for each set, in order. `timed`: names of sets.
  [[nodiscard]] ConversionJudgement judge(const std::vector<InputSet>& sets, const std::vector<OriginalRuns>& originals,
                                          const std::vector<std::string>& timed) const;

 private:
  std::shared_ptr<const OrtRuntime> runtime_;
  std::filesystem::path file_;
  StatedTerms expected_;
  GraphFacts graph_;
};

// The original's outputs may have more bits than was stated; compared is what is stated.
[[nodiscard]] TensorType stated_type(TensorType original, const std::optional<TensorType>& precision);
// The tolerance that the terms mean for an output of this type.
[[nodiscard]] Tolerance tolerance_of(TensorType original, const StatedTerms& terms);
// What the original gave for a set of inputs.
struct GivenOriginal {
  std::string set;
  std::int64_t samples = 0;
  const std::vector<Tensor>* outputs = nullptr;
};
// One for each output. `converted`: the types of the converted model's outputs.
[[nodiscard]] std::vector<Yardstick> yardsticks_of(const std::vector<GivenOriginal>& originals,
                                                   const std::vector<TensorType>& converted, const StatedTerms& terms);

}  // namespace sabath
