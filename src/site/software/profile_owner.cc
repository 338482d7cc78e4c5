#include "software/profile_owner.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/ownership.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "software/owners.h"

namespace sabath {

void refuse_others_profile(const std::filesystem::path& file, const std::vector<std::uint32_t>& trusted_owners,
                           const std::filesystem::path& program) {
  if (!try_stat(file)) return;
  const auto why = TrustedOwners(trusted_owners).why_not(file);
  if (!why || !why_not_own(file, program)) return;
  throw Error(FailureKind::access, fmt::format("the profile {} is {}", printable(file.native(), 1000), *why),
              "copy it to a file of your own, once you have read it");
}

}  // namespace sabath
