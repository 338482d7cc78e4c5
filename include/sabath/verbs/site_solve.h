// What to load on a machine so that needs are met: "cuda>=11,<13", "tensorflow>=2.10", "openmpi+cuda". One thread a
// session. Throws Error{usage}, Error{not_found}, Error{invalid}, Error{interrupted}.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/environment.h"
#include "sabath/event.h"

namespace sabath {

class Session;

struct SolveSiteRequest {
  std::vector<std::string> needs;
  std::string model;                 // and what the recipe of this model needs; empty: none
  std::string site;                  // a profile; empty: that of this host, else what is found now
  std::chrono::seconds patience{0};  // with each program, where no profile is; 0: 10, and a module system 2
  Environment environment;
};

struct SolvedNeed {
  std::string need, name, version;
  std::string module;   // empty: it needs none
  std::string program;  // the interpreter that has this package
  std::vector<std::string> features;
  std::string known;
};

struct SolveSiteRecord {
  std::string site;                  // the profile's name
  std::vector<SolvedNeed> chosen;    // in the order of the needs; empty: nothing fits
  std::vector<std::string> modules;  // to be loaded in this order
  std::vector<std::string> also;     // modules of another set with the same versions
  std::vector<std::string> against;  // why nothing fits
  std::vector<std::string> nearest;  // modules of the nearest set that exists
  int exit = 0;                      // Error{not_found}'s, if nothing fits
};

[[nodiscard]] SolveSiteRecord solve_site(Session& session, const SolveSiteRequest& request, EventSink& events,
                                         std::stop_token stop = {});
[[nodiscard]] std::string to_json(const SolveSiteRecord& record);

}  // namespace sabath
