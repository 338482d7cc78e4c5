#include "verbs/site/site_profiles.h"

#include <fmt/format.h>

#include "base/companion.h"
#include "base/file.h"
#include "machine/site_choice.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/session.h"
#include "software/detect.h"
#include "software/profile.h"
#include "software/profile_owner.h"

namespace sabath {

namespace fs = std::filesystem;

namespace {

TrustedOwners owners_of(Session& session) {
  const auto& trusted = session.settings().trusted_owners;
  return TrustedOwners({trusted.begin(), trusted.end()});
}

}  // namespace

fs::path profile_file(Session& session, const Environment& environment, const std::string& name) {
  return find_site_file(environment, find_companion(session.settings().program), name);
}

SiteProfile read_profile(Session& session, const fs::path& file) {
  refuse_others_profile(file, session.settings().trusted_owners, find_companion(session.settings().program));
  const auto text = try_read_text(file, profile_bytes_max);
  if (!text) throw Error(FailureKind::not_found, fmt::format("there is no profile {}", printable(file.native(), 1000)));
  return parse_profile(*text, printable(file.native(), 1000));
}

SiteProfile profile_of_here(Session& session, const Environment& environment, std::chrono::seconds patience,
                            const std::string& name, const std::stop_token& stop) {
  Patience allowed;
  if (patience.count() != 0) allowed = {patience, patience};
  Programs programs(environment, owners_of(session), allowed, stop);
  return detect_profile(programs, name);
}

}  // namespace sabath
