#include "convert/witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>

#include "base/counted.h"
#include "base/file.h"
#include "convert/findings.h"
#include "formats/onnx.h"
#include "ort/model.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t calls_max = 50, warm_up = 3;
constexpr std::int64_t samples_enough = 4;  // for a spread of their own
constexpr double timing_seconds = 0.5;

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
      throw Error(FailureKind::usage,
                  fmt::format("the converted model takes {}, and {} given", counted(model.inputs().size(), "input"),
                              counted(set.inputs.size(), "is", "are")));
    }
    inputs.push_back(set.inputs[at]);
  }
  return inputs;
}

// What both models gave for one set.
struct GivenSet {
  JudgedSet judged;
  const OriginalRuns* original = nullptr;
  std::vector<Tensor> plain, optimised;
};

class WitnessJudge {
 public:
  WitnessJudge(const OrtModel& plain, const OrtModel& optimised, const StatedTerms& expected)
      : plain_(plain), optimised_(optimised), expected_(expected) {}

  void judge(const std::vector<InputSet>& sets, const std::vector<OriginalRuns>& originals,
             ConversionJudgement& judgement) const {
    std::vector<GivenSet> given;
    for (std::size_t i = 0; i < sets.size(); ++i) given.push_back(run(sets[i], originals[i]));
    judgement.measures = measures_of(given);
    for (GivenSet& set : given) {
      for (std::size_t k = 0; k < set.plain.size() && set.judged.trouble.empty(); ++k)
        set.judged.outputs.push_back(judge_output(set, k, judgement.measures[k].yardstick));
      judgement.sets.push_back(std::move(set.judged));
    }
  }

 private:
  [[nodiscard]] GivenSet run(const InputSet& set, const OriginalRuns& original) const {
    GivenSet given{{set.name, set.batch(), {}, {}}, &original, {}, {}};
    try {
      const auto inputs = ordered(plain_, set, expected_.input_names);
      given.plain = plain_.run(inputs);
      given.optimised = optimised_.run(inputs);
      if (original.first.size() != given.plain.size()) {
        given.judged.trouble = fmt::format("it has {}, and the original has {}", counted(given.plain.size(), "output"),
                                           original.first.size());
      }
    } catch (const Error& error) {
      given.judged.trouble = error.failure().message;
    }
    return given;
  }

  [[nodiscard]] std::vector<OutputMeasure> measures_of(const std::vector<GivenSet>& given) const {
    std::vector<GivenOriginal> originals;
    std::vector<TensorType> types;
    for (const GivenSet& set : given) {
      if (!set.judged.trouble.empty()) continue;
      originals.push_back({set.judged.name, set.judged.batch, &set.original->first});
      if (types.empty()) std::ranges::transform(set.plain, std::back_inserter(types), &Tensor::type);
    }
    std::vector<OutputMeasure> measures;
    if (originals.empty()) return measures;
    std::vector<Yardstick> yardsticks = yardsticks_of(originals, types, expected_);
    for (std::size_t k = 0; k < yardsticks.size(); ++k) {
      OutputMeasure& measure = measures.emplace_back();
      measure.name = printable(plain_.outputs()[k].name, 1000);
      measure.yardstick = std::move(yardsticks[k]);
      add_noise(given, k, measure);
    }
    return measures;
  }

  // What an output differs by from itself is no failure where a reason was stated; of the others it still is.
  void add_noise(const std::vector<GivenSet>& given, std::size_t k, OutputMeasure& measure) const {
    std::vector<const Tensor*> first, other;
    for (const GivenSet& set : given) {
      for (const auto* const again : {&set.original->again, &set.original->threads}) {
        if (!set.judged.trouble.empty() || k >= again->size()) continue;
        first.push_back(&set.original->first[k]);
        other.push_back(&(*again)[k]);
        measure.is_noisy |= !difference_of(*first.back(), *other.back(), measure.yardstick).is_equal();
      }
    }
    if (measure.is_noisy && !expected_.stochastic.empty()) measure.yardstick.set_noise(first, other);
  }

  [[nodiscard]] JudgedOutput judge_output(const GivenSet& set, std::size_t k, const Yardstick& yardstick) const {
    const OriginalRuns& original = *set.original;
    JudgedOutput judged;
    judged.name = printable(plain_.outputs()[k].name, 1000);
    judged.original = original.first[k].type;
    judged.converted = set.plain[k].type;
    judged.difference = difference_of(original.first[k], set.plain[k], yardstick);
    judged.optimised = difference_of(original.first[k], set.optimised[k], yardstick);
    for (const auto* const other : {&original.again, &original.threads}) {
      if (k < other->size())
        judged.noise = larger(judged.noise, difference_of(original.first[k], (*other)[k], yardstick));
    }
    return judged;
  }

  const OrtModel& plain_;
  const OrtModel& optimised_;
  const StatedTerms& expected_;
};

}  // namespace

bool JudgedSet::is_equal() const {
  return trouble.empty() && std::ranges::all_of(outputs, [](const JudgedOutput& output) {
           return output.difference.is_equal() && output.optimised.is_equal();
         });
}

std::string_view name(ConversionVerdict verdict) noexcept {
  constexpr std::array<std::string_view, 4> names{"equal", "stochastic", "cannot be judged", "failed"};
  return names[static_cast<std::size_t>(verdict)];
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

TensorType stated_type(TensorType original, const std::optional<TensorType>& precision) {
  if (!precision || !is_floating(original) || size_bytes(*precision) >= size_bytes(original)) return original;
  return *precision;
}

Tolerance tolerance_of(TensorType original, const StatedTerms& terms) {
  Tolerance tolerance = usual_tolerance(stated_type(original, terms.precision));
  if (!is_floating(original)) return tolerance;
  return {terms.absolute.value_or(tolerance.absolute), terms.relative.value_or(tolerance.relative)};
}

std::vector<Yardstick> yardsticks_of(const std::vector<GivenOriginal>& originals,
                                     const std::vector<TensorType>& converted, const StatedTerms& terms) {
  std::vector<Yardstick> yardsticks;
  for (std::size_t k = 0; k < converted.size(); ++k) {
    std::vector<const Tensor*> ordered;
    std::vector<std::int64_t> samples;
    std::size_t best = 0;
    for (const GivenOriginal& original : originals) {
      const bool is_best = original.set == "data" && original.samples >= samples_enough;
      ordered.insert(is_best ? ordered.begin() : ordered.end(), &original.outputs->at(k));
      samples.insert(is_best ? samples.begin() : samples.end(), original.samples);
      if (is_best) best = 1;
    }
    TensorType type = stated_type(ordered.front()->type, terms.precision);
    if (is_floating(converted[k]) && size_bytes(converted[k]) < size_bytes(type)) type = converted[k];
    yardsticks.emplace_back(ordered, samples, best > 0 ? best : ordered.size(), type,
                            tolerance_of(ordered.front()->type, terms));
  }
  return yardsticks;
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
    judge.judge(sets, originals, judgement);
    std::ranges::move(findings_of(judgement, expected_), std::back_inserter(judgement.findings));
    std::ranges::move(limits_of(judgement), std::back_inserter(judgement.notes));
    const bool noisy = std::ranges::any_of(judgement.measures, &OutputMeasure::is_noisy);
    if (judgement.findings.empty()) {
      judgement.findings = doubts_of(judgement);
      judgement.verdict = !judgement.findings.empty() ? ConversionVerdict::unjudged
                          : noisy                     ? ConversionVerdict::stochastic
                                                      : ConversionVerdict::equal;
    }
    if (!noisy && !expected_.stochastic.empty()) {
      judgement.notes.emplace_back(
          "the model was said to be stochastic, but repeats itself: it is judged as any other");
    }
    for (const InputSet& set : sets) {
      if (std::ranges::find(timed_sets, set.name) == timed_sets.end() ||
          judgement.verdict >= ConversionVerdict::unjudged)
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
