// `adopt` as hosts and the command line call it: a directory that is one asset, or a cache of Hugging Face's hub.
#pragma once

#include <string>

#include "sabath/verbs/adopt.h"

namespace sabath {

struct AdoptionCall : AdoptionRequest {
  std::string layout = "files";  // or "hf"
};

// Of the layout "hf". Throws Error{usage} for one that has a name.
[[nodiscard]] HubAdoptionRequest hub_adoption_of(const AdoptionCall& call);

}  // namespace sabath
