// The sentences about a conversion that its proof keeps: what is wrong, what cannot be judged, what a verdict does not
// say. Pure but for a look at which files are there; any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "convert/witness.h"

namespace sabath {

// What the graph alone shows: weights that are not there, other names, another opset, a batch of one length.
[[nodiscard]] std::vector<std::string> findings_of(const GraphFacts& graph, const std::filesystem::path& directory,
                                                   const StatedTerms& expected);
// What was compared and is not equal.
[[nodiscard]] std::vector<std::string> findings_of(const ConversionJudgement& judgement, const StatedTerms& expected);
// Why an output cannot be judged.
[[nodiscard]] std::vector<std::string> doubts_of(const ConversionJudgement& judgement);
// What the verdict does not say of an output.
[[nodiscard]] std::vector<std::string> limits_of(const ConversionJudgement& judgement);
// What a user of the graph should know.
[[nodiscard]] std::vector<std::string> notes_of(const GraphFacts& graph);

}  // namespace sabath
