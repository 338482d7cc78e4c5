// What a step works on: the script that a name means, the tools that it takes, the input asset where scripts read it.
// One thread. Throws Error{not_found}, Error{usage}, Error{offline}, Error{command}, and what a fetch throws.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apply/built_in.h"
#include "apply/plan.h"
#include "holdings/calling_session.h"
#include "manifest/manifest.h"
#include "sabath/event.h"
#include "sabath/verbs/apply.h"
#include "store/store.h"

namespace sabath {

struct ChosenScript {
  ScriptStep step;
  const Builtin* built_in = nullptr;  // nullptr: it comes with the recipe
  std::string program;           // of a foreign script: the file that argv[0] stands for; empty: as it is filled in
  std::filesystem::path source;  // of its code; empty: it has none
  unsigned threads = 1;
  std::vector<std::string> environment;  // "NAME=value": what it starts from
};

// The recipe's script of this id, else the built-in one.
[[nodiscard]] ChosenScript choose_script(const Recipe& recipe, const ApplyRequest& request, std::stop_token stop);

// The root of the input, fetched if the store lacks it and the request lets it; nullopt: it is not known (dry run).
[[nodiscard]] std::optional<Sha256> bring_input(const CallingSession& caller, Store& store, const Recipe& recipe,
                                                const ApplyRequest& request, EventSink& events, std::stop_token stop);
// The view that scripts read, made if it does not stand; each of its files is what was verified.
[[nodiscard]] std::filesystem::path show_input(Store& store, const Manifest& manifest, const std::string& name,
                                               std::stop_token stop);

}  // namespace sabath
