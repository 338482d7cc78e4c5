#include <fmt/format.h>

#include "base/counted.h"
#include "cli/described.h"
#include "cli/frame/presentation.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/site.h"

namespace sabath::cli {
namespace {
namespace cmd_site_detect {

void print(Context& context, const DetectSiteRecord& record) {
  const SiteProfile& profile = record.profile;
  if (record.file.empty()) {
    context.out.print(profile_text(profile));
  } else {
    context.say(fmt::format("{}: {}, {}, {}, {}; look at it and edit it", printable(record.file.native(), 1000),
                            counted(profile.software.size(), "row of software", "rows of software"),
                            counted(profile.interpreters.size(), "interpreter"),
                            counted(profile.partitions.size(), "partition"), counted(profile.disks.size(), "disk")));
  }
  for (const PassedOver& one : profile.passed_over)
    context.warn(
        fmt::format("neither started nor loaded: {}: {}", printable(one.what, 1000), printable(one.why, 1000)));
}

}  // namespace cmd_site_detect
}  // namespace

constexpr Verb site_detect_verb{
    .name = "site detect",
    .summary = "what is on this machine, as a profile that you edit",
    .examples =
        "sabath site detect                          print the profile\n"
        "sabath site detect -o ~/.config/sabath/sites/juwels.json\n"
        "sabath site detect --patience 30            a module system that takes long to answer",
    .details =
        "Modules with what they need, Spack's and EasyBuild's packages, interpreters, MPI, accelerators, interconnect, "
        "scheduler, proxies and disks; each line says how it is known. Only programs of your PATH are started, and "
        "only module directories of your MODULEPATH are asked, that no other user but root and `trusted_owners` can "
        "write; the others are named with their owner. A program that does not answer within --patience seconds is "
        "ended, and modulefiles are then read instead of run.",
    .declare = declare<detect_site, cmd_site_detect::print>,
};

}  // namespace sabath::cli
