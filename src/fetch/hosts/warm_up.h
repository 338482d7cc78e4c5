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
  // One to the first source of each fragment that is large. Whatever goes wrong is left for who reads there.
  WarmUp(const FetchContext& context, const std::vector<Fragment>& fragments);

 private:
  std::vector<std::jthread> logins_;
};

}  // namespace sabath
