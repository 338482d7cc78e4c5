#include "convert/witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>

#include "base/file.h"
#include "base/wording.h"
#include "formats/onnx.h"
#include "ort/model.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t calls_max = 50, warm_up = 3;
constexpr double timing_seconds = 0.5;
constexpr std::array<std::string_view, 7> random_operators{
    "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli", "Dropout"};
constexpr std::array<std::string_view, 3> standard_domains{"", "ai.onnx", "ai.onnx.ml"};

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::vector<std::string> names_of(const std::vector<GraphValue>& values) {
  std::vector<std::string> names;
  for (const GraphValue& value : values) names.push_back(value.name);
  return names;
}

// The original's outputs may have more bits than was stated; compared is what is stated.
TensorType stated_type(TensorType original, const std::optional<TensorType>& precision) {
  if (!precision || !is_floating(original) || size_bytes(*precision) >= size_bytes(original)) return original;
  return *precision;
}

const OutputDifference& larger(const OutputDifference& a, const OutputDifference& b) {
  if (a.is_equal() != b.is_equal()) return a.is_equal() ? b : a;
  return b.max_abs > a.max_abs ? b : a;
}

// Inputs in the order of the model: by the wanted names, else as they are given.
std::vector<Tensor> ordered(const OrtModel& model, const InputSet& set, const std::vector<std::string>& names) {
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < model.inputs().size(); ++i) {
    const auto named = std::ranges::find(names, model.inputs()[i].name);
    const auto at = named == names.end() ? i : static_cast<std::size_t>(named - names.begin());
    if (at >= set.inputs.size()) {
      throw Error(FailureKind::usage, fmt::format("the converted model takes {} inputs, and {} are given",
                                                  model.inputs().size(), set.inputs.size()));
    }
    inputs.push_back(set.inputs[at]);
  }
  return inputs;
}

class WitnessJudge {
 public:
  WitnessJudge(const OrtModel& plain, const OrtModel& optimised, const StatedTerms& expected)
      : plain_(plain), optimised_(optimised), expected_(expected) {}

  JudgedSet judge(const InputSet& set, const OriginalRuns& original) const {
    JudgedSet judged{set.name, set.batch(), {}, {}};
    std::vector<Tensor> plain, optimised;
    try {
      const auto inputs = ordered(plain_, set, expected_.input_names);
      plain = plain_.run(inputs);
      optimised = optimised_.run(inputs);
    } catch (const Error& error) {
      judged.trouble = error.failure().message;
      return judged;
    }
    if (original.first.size() != plain.size()) {
      judged.trouble = fmt::format("it has {} outputs, and the original has {}", plain.size(), original.first.size());
      return judged;
    }
    for (std::size_t i = 0; i < plain.size(); ++i)
      judged.outputs.push_back(judge_output(original, i, plain[i], optimised[i]));
    return judged;
  }

 private:
  [[nodiscard]] JudgedOutput judge_output(const OriginalRuns& original, std::size_t i, const Tensor& plain,
                                          const Tensor& optimised) const {
    JudgedOutput judged;
    judged.name = printable(plain_.outputs()[i].name, 1000);
    judged.original = original.first[i].type;
    judged.converted = plain.type;
    judged.tolerance = usual_tolerance(stated_type(judged.original, expected_.precision));
    if (is_floating(judged.original)) {
      if (expected_.absolute) judged.tolerance.absolute = *expected_.absolute;
      if (expected_.relative) judged.tolerance.relative = *expected_.relative;
    }
    judged.difference = difference_of(original.first[i], plain, judged.tolerance);
    judged.optimised = difference_of(original.first[i], optimised, judged.tolerance);
    for (const auto* const other : {&original.again, &original.threads}) {
      if (i < other->size())
        judged.noise = larger(judged.noise, difference_of(original.first[i], (*other)[i], judged.tolerance));
    }
    return judged;
  }

  const OrtModel& plain_;
  const OrtModel& optimised_;
  const StatedTerms& expected_;
};

// The sentences about what was compared.
class Findings {
 public:
  Findings(const std::vector<JudgedSet>& sets, const StatedTerms& expected) : sets_(sets), expected_(expected) {}

  std::vector<std::string> run() {
    demoted();
    const bool noisy = std::ranges::any_of(sets_, &JudgedSet::is_noisy);
    if (noisy && expected_.stochastic.empty()) stochastic();
    if (!frozen()) troubles();
    if (!noisy) different();
    return std::move(findings_);
  }

 private:
  void demoted() {
    for (const JudgedOutput& output : sets_.front().outputs) {
      if (output.converted == output.original) continue;
      if (output.converted == stated_type(output.original, expected_.precision)) continue;
      findings_.push_back(
          fmt::format("{} is {} in the original and {} in the converted model: {}", output.name, name(output.original),
                      name(output.converted),
                      is_floating(output.original) && size_bytes(output.converted) < size_bytes(output.original)
                          ? "precision was lost, and that was not stated"
                          : "it is another type"));
    }
  }

  void stochastic() {
    for (const JudgedSet& set : sets_) {
      for (const JudgedOutput& output : set.outputs) {
        if (output.noise.is_equal()) continue;
        findings_.push_back(
            fmt::format("the original gives other values when it is run again: {} of {} differs by {:.3g}; "
                        "if it is meant to be stochastic, its user has to state why",
                        output.name, set.name, output.noise.max_abs));
        return;
      }
    }
  }

  // Fine with as many samples as the dummy input has, and with no other number.
  bool frozen() {
    const JudgedSet& dummy = sets_.front();
    const auto is_in_trouble = [](const JudgedSet& set) {
      return !set.trouble.empty() ||
             std::ranges::any_of(set.outputs, [](const auto& output) { return !output.difference.trouble.empty(); });
    };
    if (is_in_trouble(dummy)) return false;
    const auto other = std::ranges::find_if(
        sets_, [&](const JudgedSet& set) { return set.batch != dummy.batch && is_in_trouble(set); });
    const bool of_same_batch = std::ranges::any_of(
        sets_, [&](const JudgedSet& set) { return set.batch == dummy.batch && is_in_trouble(set); });
    if (other == sets_.end() || of_same_batch) return false;
    std::string why = other->trouble;
    for (const JudgedOutput& output : other->outputs) {
      if (why.empty()) why = output.name + ": " + output.difference.trouble;
    }
    findings_.push_back(fmt::format("the number of samples was frozen at the dummy input's {}: with {} it fails: {}",
                                    dummy.batch, other->batch, why));
    return true;
  }

  void troubles() {
    for (const JudgedSet& set : sets_) {
      if (!set.trouble.empty()) findings_.push_back(fmt::format("on {}: {}", set.name, set.trouble));
      for (const JudgedOutput& output : set.outputs) {
        if (!output.difference.trouble.empty())
          findings_.push_back(fmt::format("{} on {}: {}", output.name, set.name, output.difference.trouble));
      }
    }
  }

  void different() {
    const bool dummy_equal = sets_.front().is_equal();
    for (const JudgedSet& set : sets_) {
      for (const JudgedOutput& output : set.outputs) {
        if (output.difference.outside > 0) {
          findings_.push_back(difference_text(set, output, output.difference, "") +
                              (dummy_equal
                                   ? "; on the dummy input it is equal: tracing keeps the branch that the dummy "
                                     "input takes"
                                   : ""));
        } else if (output.optimised.outside > 0) {
          findings_.push_back(difference_text(set, output, output.optimised, " after the runtime optimised the graph"));
        }
      }
    }
  }

  static std::string difference_text(const JudgedSet& set, const JudgedOutput& output,
                                     const OutputDifference& difference, std::string_view when) {
    std::string text =
        fmt::format("{} on {} differs{}: {} of {} elements are outside {:g} + {:g} |x|, by {:.3g} at most", output.name,
                    set.name, when, difference.outside, difference.elements, output.tolerance.absolute,
                    output.tolerance.relative, difference.max_abs);
    if (difference.nan_original != difference.nan_converted)
      text += fmt::format("; {} are no numbers, and {} of the original's", difference.nan_converted,
                          difference.nan_original);
    return text;
  }

  const std::vector<JudgedSet>& sets_;
  const StatedTerms& expected_;
  std::vector<std::string> findings_;
};

std::vector<std::string> notes_of(const GraphFacts& graph) {
  std::vector<std::string> notes;
  for (const auto& [operation, count] : graph.operators) {
    if (std::ranges::find(random_operators, operation) != random_operators.end())
      notes.push_back(fmt::format("the graph has {} {}, which may draw random numbers", count, operation));
    const auto dot = operation.rfind('.');
    const std::string domain = dot == std::string::npos ? "" : operation.substr(0, dot);
    if (std::ranges::find(standard_domains, domain) == standard_domains.end())
      notes.push_back(fmt::format("{} is no operator of ONNX itself: not every runtime has it", operation));
  }
  return notes;
}

}  // namespace

bool JudgedSet::is_equal() const {
  return trouble.empty() && std::ranges::all_of(outputs, [](const JudgedOutput& output) {
           return output.difference.is_equal() && output.optimised.is_equal();
         });
}

bool JudgedSet::is_noisy() const {
  return std::ranges::any_of(outputs, [](const JudgedOutput& output) { return !output.noise.is_equal(); });
}

std::string_view name(ConversionVerdict verdict) noexcept {
  return verdict == ConversionVerdict::equal        ? "equal"
         : verdict == ConversionVerdict::stochastic ? "stochastic"
                                                    : "failed";
}

Timing timing_of_calls(const std::function<void()>& call) {
  std::vector<double> seconds;
  const auto begin = Clock::now();
  for (std::uint64_t i = 0; i < calls_max + warm_up; ++i) {
    const auto start = Clock::now();
    call();
    const auto end = Clock::now();
    if (i >= warm_up) seconds.push_back(std::chrono::duration<double>(end - start).count());
    if (seconds.size() > 2 && std::chrono::duration<double>(end - begin).count() > timing_seconds) break;
  }
  return timing_of(std::move(seconds));
}

Timing timing_of(std::vector<double> seconds) {
  Timing timing;
  timing.calls = seconds.size();
  timing.warm_up = warm_up;
  timing.threads = std::max(1U, std::thread::hardware_concurrency());
  if (seconds.empty()) return timing;
  std::ranges::sort(seconds);
  timing.median_seconds = seconds[seconds.size() / 2];
  timing.p95_seconds = seconds[std::min(seconds.size() - 1, seconds.size() * 95 / 100)];
  return timing;
}

std::vector<std::string> findings_of(const GraphFacts& graph, const fs::path& directory, const StatedTerms& expected) {
  std::vector<std::string> findings;
  if (graph.external_outside) findings.emplace_back("weights of the converted model lie outside its directory");
  for (const std::string& file : graph.external_data) {
    const auto path = RelativePath::try_parse(file);
    if (path && !try_stat(directory / path->text()))
      findings.push_back(fmt::format("weights were left behind: the graph names {}, which was not written", file));
  }
  const auto check_names = [&](std::string_view what, const auto& values, const std::vector<std::string>& wanted) {
    const auto names = names_of(values);
    if (!wanted.empty() && names != wanted)
      findings.push_back(fmt::format("its {} are {}, and not {}", what, joined(names), joined(wanted)));
  };
  check_names("inputs", graph.inputs, expected.input_names);
  check_names("outputs", graph.outputs, expected.output_names);
  for (const auto& [domain, version] : graph.opsets) {
    if (domain.empty() && expected.opset && version != *expected.opset)
      findings.push_back(fmt::format("its opset is {}, and not {}", version, *expected.opset));
  }
  for (const GraphValue& input : graph.inputs) {
    if (!expected.any_batch || input.shape.empty()) continue;
    if (input.shape.front().find_first_not_of("0123456789") == std::string::npos)
      findings.push_back(fmt::format("the number of samples was frozen: {} takes {}", input.name, input.shape.front()));
  }
  return findings;
}

Witness::Witness(std::shared_ptr<const OrtRuntime> runtime, fs::path file, StatedTerms expected)
    : runtime_(std::move(runtime)), file_(std::move(file)), expected_(std::move(expected)) {
  graph_ = read_onnx(file_).graph;
}

ConversionJudgement Witness::judge(const std::vector<InputSet>& sets, const std::vector<OriginalRuns>& originals,
                                   const std::vector<std::string>& timed_sets) const {
  ConversionJudgement judgement;
  judgement.findings = findings_of(graph_, file_.parent_path(), expected_);
  judgement.notes = notes_of(graph_);
  const bool complete = !graph_.external_outside && std::ranges::all_of(graph_.external_data, [&](const auto& file) {
    return try_stat(file_.parent_path() / file).has_value();
  });
  if (!complete) return judgement;  // nothing that may lie anywhere is opened
  try {
    OrtOptions as_it_is, optimise;
    as_it_is.optimise = false;
    const OrtModel plain(runtime_, file_, file_.filename(), as_it_is);
    const OrtModel optimised(runtime_, file_, file_.filename(), optimise);
    const WitnessJudge judge(plain, optimised, expected_);
    for (std::size_t i = 0; i < sets.size(); ++i) judgement.sets.push_back(judge.judge(sets[i], originals[i]));
    std::ranges::move(Findings(judgement.sets, expected_).run(), std::back_inserter(judgement.findings));
    const bool noisy = std::ranges::any_of(judgement.sets, &JudgedSet::is_noisy);
    if (judgement.findings.empty())
      judgement.verdict = noisy ? ConversionVerdict::stochastic : ConversionVerdict::equal;
    if (!noisy && !expected_.stochastic.empty()) {
      judgement.notes.emplace_back(
          "the model was said to be stochastic, but repeats itself: it is judged as any other");
    }
    for (const InputSet& set : sets) {
      if (std::ranges::find(timed_sets, set.name) == timed_sets.end() || judgement.verdict == ConversionVerdict::failed)
        continue;
      for (const OrtModel* const model : {&plain, &optimised}) {
        const auto inputs = ordered(*model, set, expected_.input_names);
        Timing timing = timing_of_calls([&] { static_cast<void>(model->run(inputs)); });
        timing.what = model == &plain ? plain_latency : optimised_latency;
        timing.set = set.name;
        timing.batch = set.batch();
        judgement.timings.push_back(std::move(timing));
      }
    }
  } catch (const Error& error) {
    judgement.findings.push_back(error.failure().message);
    judgement.verdict = ConversionVerdict::failed;
  }
  return judgement;
}

}  // namespace sabath
