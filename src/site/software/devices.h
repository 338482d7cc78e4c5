// MPI, accelerators, interconnect, network and disks of a machine. One thread. Throws Error{interrupted}.
#pragma once

#include <string>
#include <string_view>

#include "sabath/verbs/site.h"
#include "software/programs.h"

namespace sabath {

void detect_mpi(Programs& programs, SiteProfile& profile);
void detect_accelerators(Programs& programs, SiteProfile& profile);
void detect_interconnect(SiteProfile& profile);
void detect_network(const Environment& environment, SiteProfile& profile);
void detect_disks(Programs& programs, SiteProfile& profile);

// Of `ompi_info --parsable`: "yes", "no"; empty: it does not say. Pure.
[[nodiscard]] std::string_view cuda_of_ompi_info(std::string_view text);
// Of the texts of /proc/net/route and /proc/net/ipv6_route: "a default route by eth0", "no default route". Pure.
[[nodiscard]] std::string default_route_of(std::string_view ipv4, std::string_view ipv6);
// Its host alone: a password may be in front of it, with any letters, or behind it in a query. Pure.
[[nodiscard]] std::string proxy_without_password(std::string_view url);

}  // namespace sabath
