// The question whether code that is not trusted yet may run, at a terminal. Main thread.
#pragma once

#include <string>

#include "cli/verb.h"

namespace sabath::cli {

// A person sits at standard input and standard error, and no program reads the answer.
[[nodiscard]] bool can_ask(const Context& context);
// "once", "commit", "origin"; "" for any other answer, at the end of the input, and at a stop request.
[[nodiscard]] std::string ask_trust(const Context& context, const std::string& name, const std::string& about);

}  // namespace sabath::cli
