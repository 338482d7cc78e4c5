// Whether a recipe's script may run here, as src/harness/consent.h decides it for the code of a model. Throws
// Error{access} if it is not trusted; docs/trust.md.
#pragma once

#include "apply/input.h"
#include "sabath/apply.h"
#include "sabath/recipe.h"

namespace sabath {

// `recipe`: the one that has the script. Asks, where the request lets it.
void ask_consent(const SessionSettings& settings, const ApplyRequest& request, const Recipe& recipe,
                 const ChosenScript& chosen);

}  // namespace sabath
