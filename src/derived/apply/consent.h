// Whether a recipe's script may run here, as src/runs/harness/consent.h decides it for the code of a model. Throws
// Error{access} if it is not trusted; docs/trust.md.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "apply/input.h"
#include "sabath/recipe.h"
#include "sabath/session_settings.h"
#include "sabath/verbs/apply.h"

namespace sabath {

// `recipe`: the one that has the script. Asks, where the request lets it.
void ask_consent(const SessionSettings& settings, const ApplyRequest& request, const Recipe& recipe,
                 const ChosenScript& chosen);
// Whether a foreign script may read these files of the input's view: pickles run code when they are loaded. `root`:
// "sha256:<hex>" of the input.
void ask_data_consent(const SessionSettings& settings, const ApplyRequest& request, const Recipe& input,
                      const std::string& root, const std::filesystem::path& view, const std::vector<Entry>& files,
                      const std::stop_token& stop);

}  // namespace sabath
