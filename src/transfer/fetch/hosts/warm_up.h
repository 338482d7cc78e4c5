// Connections to sources of content that are opened while its manifest is on its way, where each costs a login. A
// thread for each host; all have ended when this object has.
#pragma once

#include <thread>
#include <vector>

#include "fetch/hosts/context.h"
#include "sabath/recipe.h"

namespace sabath {

class WarmUp {
 public:
  // One to the first source of each large fragment. A failure here is ignored: the lane that reads there meets it.
  WarmUp(const FetchContext& context, const std::vector<Fragment>& fragments);

 private:
  std::vector<std::jthread> logins_;
};

}  // namespace sabath
