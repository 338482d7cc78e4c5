#include "store/named_file.h"

#include <fmt/format.h>

#include <system_error>

#include "sabath/error.h"
#include "store/disk/members.h"

namespace sabath {

void check_named_file(const std::optional<Namer>& namer, const std::filesystem::path& file, const std::string& name) {
  if (!namer || namer->user == 0) return;
  const auto refuse = [&](const char* why) {
    throw Error(FailureKind::access, fmt::format("cannot read {}: {}", name, why),
                "if it is meant, name it in a recipe of your own");
  };
  if (!namer->user) refuse("what came over a network, or by a subscription, names no file of this machine");
  std::error_code unknown;
  const auto canonical = std::filesystem::canonical(file, unknown);
  const Audience audience = *namer->user == any_user ? Audience{} : Audience::of_user(*namer->user);
  if (unknown || !audience.can_read(canonical)) refuse("the user whose recipe or list names it could not read it");
}

}  // namespace sabath
