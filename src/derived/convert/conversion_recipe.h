// What a converted asset says of itself: the step by which it came to be, and its recipe. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "convert/sources.h"
#include "sabath/digest.h"
#include "sabath/supporting.h"
#include "sabath/verbs/convert.h"

namespace sabath {

// `from` and `input` are those of the first source; of several, the argument "parents" names each with its root or the
// digest of its file. `verdict`: of the proof, which is settled by now.
[[nodiscard]] DerivationStep conversion_step(const std::vector<ConversionSource>& sources,
                                             const ConvertRequest& request, const Sha256& key,
                                             const std::string& verdict);
// The recipe pins the root. Whom to cite, and under which licence, is said of all sources: a licence that one of them
// does not state is not known.
[[nodiscard]] std::string conversion_recipe(const std::vector<ConversionSource>& sources, const ConvertRequest& request,
                                            const std::string& name, const Sha256& root, const DerivationStep& step);

}  // namespace sabath
