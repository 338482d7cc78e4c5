// Whether an environment or its image may have a name, before the work that it takes. One thread. Throws Error{usage}
// for a name that another asset has, Error{content} for an environment of that name with other packages.
#pragma once

#include <string>
#include <vector>

#include "environments/choose.h"
#include "manifest/manifest.h"
#include "sabath/session_settings.h"
#include "store/store.h"

namespace sabath {

// What leads to a tree of this kind may turn out to have the same root.
void refuse_taken_name(const SessionSettings& settings, Store& store, const std::string& name,
                       bool (*is_alike)(const Manifest& tree));
// An environment has the name, and these packages of a lock or this Python cannot give its root.
void refuse_other_environment(const SessionSettings& settings, Store& store, const std::string& name,
                              const std::string& python, const std::vector<ChosenPackage>& packages);

}  // namespace sabath
