// The settings of this call and where each came from: flag, environment, user file, site file, default, in this order.
//
// The files' keys are in docs/configuration.md; an unknown key is refused. In their paths a leading ~ and $NAME are
// replaced, and a relative path starts at the file. Lists of `recipes`, `rewrites`, `hosts` and `trusted_owners` are
// joined, user's first; all else is replaced. Made by one thread, then constant. Throws Error{usage}, Error{invalid}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/environment.h"
#include "cli/global_options.h"
#include "sabath/session.h"

namespace sabath::cli {

struct Setting {
  std::string key;
  std::vector<std::string> values;
  std::string origin;  // "--store", "SABATH_CACHE", a file's name, "default"
  bool list = false;
};

struct Configuration {
  SessionSettings session;
  std::vector<Setting> settings;  // for `sabath config` and `doctor`
};

[[nodiscard]] Configuration load_configuration(const GlobalOptions& globals, const Environment& environment);

}  // namespace sabath::cli
