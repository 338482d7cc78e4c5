// The machine that a user finds: its modules, interpreters, MPI, accelerators, disks and scheduler, as a profile that a
// person edits, and what to load for a need. One thread a session. Throws Error{not_found}, Error{invalid},
// Error{usage}, Error{storage}, Error{interrupted}.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/environment.h"
#include "sabath/event.h"

namespace sabath {

class Session;

// A version of something, once for each way to load it.
struct Software {
  std::string name, version;           // "openmpi", "4.1.6"; the version may be empty
  std::string module;                  // what `module load` takes; empty: no module has it
  std::vector<std::string> chain;      // modules that are loaded before it, in this order: "gcc/12.3"
  std::vector<std::string> needs;      // modules that it loads, or asks for, by itself: "cuda/12.2", "cuda"
  std::vector<std::string> conflicts;  // modules that may not be loaded beside it: "mpich", "cuda/11.8"
  std::string family;                  // one module of a family at a time: "mpi"
  std::vector<std::string> features;   // in lower case: "cuda"
  std::vector<std::string> provides;   // "numpy/1.24.2": what else it brings
  std::string program;                 // the interpreter that has this package
  std::string known;                   // how that is known
  bool opens_first = false;            // what is below it is there before it loads what it needs
};

struct SiteFact {
  std::string name, value;  // "gpus", "0"
  std::string known;
};

struct SiteInterpreter {
  std::string program, version;
  std::map<std::string, std::string> packages;
  std::string known;
};

struct SiteDisk {
  std::filesystem::path path;
  std::string filesystem;  // "ext4"; empty: not a known one
  std::optional<std::uint64_t> bytes, bytes_free, quota_bytes_left;
  bool in_memory = false, shared = false;  // shared: other nodes see it
  std::string known;
  std::string device;  // "NVMe", "SSD", "rotating"; empty: not known
};

struct SitePartition {
  std::string name;
  bool usual = false;                                             // the scheduler takes it if none is named
  std::uint64_t nodes = 0, cpus = 0, memory_bytes = 0, gpus = 0;  // the last three: of a node
  std::optional<std::uint64_t> time_limit_seconds;                // absent: no limit
  std::string known;
  bool transfer = false;  // it looks like one for copying data
};

// What was found and neither started nor loaded.
struct PassedOver {
  std::string what, why;  // "/opt/tools/bin/sinfo", "owned by uid 1007, and not by root or you"
};

// What `run` reads, too (docs/running.md): there `modules`, `launchers` and `containers` stay as a person wrote them.
struct SiteProfile {
  std::string name, description;
  std::vector<std::string> hosts;
  std::string module_script, launcher;
  std::vector<SiteFact> machine;
  std::vector<SiteDisk> disks;
  std::vector<SitePartition> partitions;
  std::vector<SiteInterpreter> interpreters;
  std::vector<Software> software;
  std::vector<PassedOver> passed_over;
};

[[nodiscard]] std::string profile_text(const SiteProfile& profile);  // the file, as a person edits it

struct DetectSiteRequest {
  std::filesystem::path output;      // the file of the profile; empty: none is written
  std::string name;                  // of the profile; empty: the host's
  std::chrono::seconds patience{0};  // with each program that is asked; 0: 10, and a module system 2
  Environment environment;
};
struct DetectSiteRecord {
  SiteProfile profile;
  std::filesystem::path file;
  int exit = 0;
};
// Starts only programs of PATH, and asks only module directories of MODULEPATH, that no other user but root and
// trusted_owners can write; the others are in `passed_over`.
[[nodiscard]] DetectSiteRecord detect_site(Session& session, const DetectSiteRequest& request, EventSink& events,
                                           std::stop_token stop = {});
[[nodiscard]] std::string to_json(const DetectSiteRecord& record);

struct ShowSiteRequest {
  std::string name;  // or a path; empty: the profile of this host
  Environment environment;
};
struct ShowSiteRecord {
  SiteProfile profile;
  std::filesystem::path file;
  int exit = 0;
};
[[nodiscard]] ShowSiteRecord show_site(Session& session, const ShowSiteRequest& request, EventSink& events,
                                       std::stop_token stop = {});
[[nodiscard]] std::string to_json(const ShowSiteRecord& record);

struct DiffSitesRequest {
  std::string before, after;  // names of profiles, or paths
  Environment environment;
};
struct SiteDifference {
  std::string what;           // "software openmpi", "gpus"
  std::string before, after;  // empty: it has none
  std::string meaning;        // what follows from it for a run
};
struct DiffSitesRecord {
  std::vector<SiteDifference> differences;
  int exit = 0;
};
[[nodiscard]] DiffSitesRecord diff_sites(Session& session, const DiffSitesRequest& request, EventSink& events,
                                         std::stop_token stop = {});
[[nodiscard]] std::string to_json(const DiffSitesRecord& record);

}  // namespace sabath
