#include "software/profile_owner.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/kept_for_others.h"
#include "base/ownership.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "software/owners.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> why_others_wrote(const fs::path& file, const std::vector<std::uint32_t>& trusted_owners,
                                            const fs::path& program) {
  std::error_code unknown;
  if (auto why = why_kept_for_others(fs::canonical(file, unknown))) return why;
  auto why = TrustedOwners(trusted_owners).why_not(file);
  return why && why_not_own(file, program) ? std::move(why) : std::nullopt;
}

}  // namespace

void refuse_others_profile(const fs::path& file, const std::vector<std::uint32_t>& trusted_owners,
                           const fs::path& program) {
  if (!try_stat(file)) return;
  const auto why = why_others_wrote(file, trusted_owners, program);
  if (!why) return;
  throw Error(FailureKind::access,
              fmt::format("the profile {} is not believed: {}", printable(file.native(), 1000), *why),
              "copy it to a file of your own, once you have read it");
}

void refuse_others_program(const fs::path& file, std::string_view what,
                           const std::vector<std::uint32_t>& trusted_owners, const fs::path& program) {
  if (file.native().find('/') == std::string::npos || !try_stat(file)) return;
  const auto why = why_others_wrote(file, trusted_owners, program);
  if (!why) return;
  throw Error(
      FailureKind::access,
      fmt::format("the {} of the site profile, {}, is not believed: {}", what, printable(file.native(), 1000), *why),
      "name one of your own, or its owner in `trusted_owners` of the configuration");
}

}  // namespace sabath
