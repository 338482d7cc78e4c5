#include "software/detect.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include "sabath/path.h"
#include "software/devices.h"
#include "software/interpreters.h"
#include "software/module_systems.h"
#include "software/scheduler.h"

namespace sabath {

SiteProfile detect_profile(Programs& programs, std::string name) {
  SiteProfile profile;
  utsname kernel{};
  ::uname(&kernel);
  const std::string host = printable(kernel.nodename);
  profile.name = name.empty() ? host : std::move(name);
  profile.description = fmt::format("Found on {}. Edit it: what is wrong here is wrong for every run.", host);
  profile.hosts = {host};
  profile.machine.push_back({"architecture", kernel.machine, "uname"});
  detect_modules(programs, profile);
  detect_interpreters(programs, profile);
  detect_mpi(programs, profile);
  detect_accelerators(programs, profile);
  detect_interconnect(profile);
  detect_scheduler(programs, profile);
  detect_network(programs.environment(), profile);
  detect_disks(programs, profile);
  profile.passed_over = programs.take_passed_over();
  return profile;
}

std::vector<Software> table_of(const SiteProfile& profile) {
  std::vector<Software> table = profile.software;
  for (const SiteInterpreter& one : profile.interpreters) {
    for (Software& package : software_of(one)) table.push_back(std::move(package));
  }
  return table;
}

}  // namespace sabath
