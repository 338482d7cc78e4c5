// A site profile: how this site's launchers, modules and containers are called. Data, not code: etc/sites/*.json,
// docs/running.md. Plain values; any thread. Throws Error{invalid}, Error{not_found}.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

// A command that goes in front of another one. Words may hold {ranks} {nodes} {ranks_per_node} {work} {image} {path};
// a container's word "{binds}" stands for its `bind` once for each directory.
struct Wrapper {
  std::vector<std::string> argv, bind;
  bool tags_output = false;           // lines of the output begin with their rank
  std::vector<std::string> digest{};  // of a container: prints the digest of {image}; empty: no command does
};

// What `sabath job` asks the site's scheduler for where nothing else is said. Empty or absent: the scheduler decides.
struct SiteJobs {
  std::string scheduler, partition, account;
  std::string transfer_partition;   // of nodes that see the internet; empty: there is none
  std::string node_disk, node_cap;  // "/local/{user}" on each node; how much may stay there: "500GB"
  std::string time, memory;
  std::optional<std::uint64_t> cores, gpus;
  bool network = true;  // the nodes of jobs see the internet
};

struct Site {
  std::string name;
  std::string file{};                                       // that it was read from
  std::vector<std::string> hosts;                           // patterns of host names with * and ?
  std::string module_script;                                // sourced by bash, defines `module`
  std::map<std::string, std::vector<std::string>> modules;  // "cuda>=11" or "cuda" -> what is loaded here
  std::string launcher;                                     // the usual one for several ranks
  std::map<std::string, Wrapper> launchers, containers;
  SiteJobs jobs{};
};

[[nodiscard]] Site parse_site(std::string_view json, const std::string& origin);
// What `over` says wins; what it leaves out stays.
[[nodiscard]] Site merged(Site base, Site over);
[[nodiscard]] bool is_host_of(const Site& site, const std::string& host);

// The site's modules for a recipe's needs ("gcc/11.3.0", "cuda>=11"): by the whole need, else by its name; else as it
// stands.
[[nodiscard]] std::vector<std::string> modules_for(const Site& site, const std::vector<std::string>& needs);

struct WrapperValues {
  unsigned ranks = 1, nodes = 1;
  std::string work, image;
  std::vector<std::string> binds;
};
[[nodiscard]] std::vector<std::string> wrap(const Wrapper& wrapper, const WrapperValues& values,
                                            const std::vector<std::string>& command);

}  // namespace sabath
