#include "convert/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/counted.h"
#include "base/file.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 7> random_operators{
    "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli", "Dropout"};
constexpr std::array<std::string_view, 3> standard_domains{"", "ai.onnx", "ai.onnx.ml"};

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::vector<std::string> names_of(const std::vector<GraphValue>& values) {
  std::vector<std::string> names;
  for (const GraphValue& value : values) names.push_back(value.name);
  return names;
}

// The sentences about what was compared.
class Findings {
 public:
  Findings(const ConversionJudgement& judgement, const StatedTerms& expected)
      : sets_(judgement.sets), measures_(judgement.measures), expected_(expected) {}

  std::vector<std::string> run() {
    demoted();
    if (expected_.stochastic.empty()) stochastic();
    if (!frozen()) troubles();
    different();
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
      for (std::size_t k = 0; k < set.outputs.size(); ++k) {
        if (!measures_[k].is_noisy || set.outputs[k].noise.max_abs == 0) continue;
        findings_.push_back(
            fmt::format("the original gives other values when it is run again: {} of {} differs by {:.3g}; "
                        "if it is meant to be stochastic, its user has to state why",
                        measures_[k].name, set.name, set.outputs[k].noise.max_abs));
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
      for (std::size_t k = 0; k < set.outputs.size(); ++k) {
        const JudgedOutput& output = set.outputs[k];
        const bool unreasoned = measures_[k].is_noisy && expected_.stochastic.empty();  // one finding says it
        if (unreasoned || !output.difference.trouble.empty()) continue;
        if (!output.difference.is_equal()) {
          findings_.push_back(difference_text(set, k, output.difference, "") +
                              (dummy_equal
                                   ? "; on the dummy input it is equal: tracing keeps the branch that the dummy "
                                     "input takes"
                                   : ""));
        } else if (!output.optimised.is_equal()) {
          findings_.push_back(difference_text(set, k, output.optimised, " after the runtime optimised the graph"));
        }
      }
    }
  }

  [[nodiscard]] std::string difference_text(const JudgedSet& set, std::size_t k, const OutputDifference& difference,
                                            std::string_view when) const {
    const Tolerance& tolerance = measures_[k].yardstick.tolerance();
    std::string text = fmt::format("{} on {} differs{}: ", measures_[k].name, set.name, when);
    if (difference.outside > 0) {
      text +=
          fmt::format("{} of {} elements are outside {:g} + {:g} of the spread, by {:.3g} at most", difference.outside,
                      difference.elements, tolerance.absolute, tolerance.relative, difference.max_abs);
    } else {
      text += fmt::format("the largest element is another in {}, although none is outside {:g} of its spread",
                          counted(difference.argmax_other, "row"), tolerance.relative);
    }
    if (difference.nan_original != difference.nan_converted)
      text += fmt::format("; {} are no numbers, and {} of the original's", difference.nan_converted,
                          difference.nan_original);
    return text;
  }

  const std::vector<JudgedSet>& sets_;
  const std::vector<OutputMeasure>& measures_;
  const StatedTerms& expected_;
  std::vector<std::string> findings_;
};

// Elements of real samples, or of all, that are no numbers in both.
std::uint64_t numberless(const ConversionJudgement& judgement, std::size_t k) {
  std::uint64_t count = 0;
  for (const JudgedSet& set : judgement.sets) {
    if (k < set.outputs.size()) count += set.outputs[k].difference.nan_original;
  }
  return count;
}

}  // namespace

std::vector<std::string> findings_of(const ConversionJudgement& judgement, const StatedTerms& expected) {
  return Findings(judgement, expected).run();
}

std::vector<std::string> doubts_of(const ConversionJudgement& judgement) {
  std::vector<std::string> reasons;
  for (const OutputMeasure& measure : judgement.measures) {
    if (const std::string why = measure.yardstick.trouble(); !why.empty())
      reasons.push_back(fmt::format("{} cannot be judged: {}", measure.name, why));
  }
  return reasons;
}

std::vector<std::string> limits_of(const ConversionJudgement& judgement) {
  std::vector<std::string> notes;
  for (std::size_t k = 0; k < judgement.measures.size(); ++k) {
    const OutputMeasure& measure = judgement.measures[k];
    const Yardstick& yardstick = measure.yardstick;
    if (const auto count = numberless(judgement, k); count > 0)
      notes.push_back(fmt::format("{}: {} no numbers in the original, and say nothing", measure.name,
                                  counted(count, "element is", "elements are")));
    const std::string all = yardstick.features() == 1 ? "" : fmt::format(" of {} features", yardstick.features());
    if (yardstick.constants() > 0) {
      notes.push_back(
          fmt::format("{}: {}{} did not vary over the samples, and was judged by its value: what changes it "
                      "was not seen",
                      measure.name, all.empty() ? "it" : fmt::format("{}", yardstick.constants()), all));
    }
    if (yardstick.hidden() > 0) {
      notes.push_back(fmt::format(
          "{}: {}{} varied by less than rounding beside 1: differences below {:.1g} were not seen", measure.name,
          all.empty() ? "it" : fmt::format("{}", yardstick.hidden()), all, yardstick.resolution(0)));
    }
    if (yardstick.silent() > 0 && yardstick.silent() < yardstick.features())
      notes.push_back(fmt::format("{}: {}{} gave no number on any sample", measure.name, yardstick.silent(), all));
  }
  return notes;
}

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
      findings.push_back(fmt::format("its opset is {}, and not {}: the converter wrote another one than was asked for",
                                     version, *expected.opset));
  }
  for (const GraphValue& input : graph.inputs) {
    if (!expected.any_batch || input.shape.empty()) continue;
    if (input.shape.front().find_first_not_of("0123456789") == std::string::npos)
      findings.push_back(fmt::format("the number of samples was frozen: {} takes {}", input.name, input.shape.front()));
  }
  return findings;
}

}  // namespace sabath
