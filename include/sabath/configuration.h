// The settings of this call and where each came from: caller, environment, user file, site file, default, in this
// order.
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

#include "sabath/environment.h"
#include "sabath/session_settings.h"

namespace sabath {

// What the caller says itself; it wins over the environment and the files.
struct ConfigurationSources {
  std::vector<std::string> roots;            // none: as the environment or the files say
  std::optional<std::string> store, config;  // several stores separated by colons; the user's file
  bool offline = false;                      // true: also where the others say no
  // JSON with the keys of a configuration file, and "config" and "deadline" as the options have them: it wins over all
  // the others. Its paths are taken as they are written, and "store" may be several, separated by colons.
  std::optional<std::string> settings{};
};

struct ConfigurationEntry {
  std::string key;
  std::vector<std::string> values;
  std::string origin;  // "store" of the caller, "SABATH_CACHE", a file's name, "default"
  bool list = false;
};

struct Configuration {
  SessionSettings session;
  std::vector<ConfigurationEntry> settings;  // for people; secrets are not among them
  std::vector<std::string> doubts;           // directories that a setting names and that have no recipes
};

[[nodiscard]] Configuration load_configuration(const ConfigurationSources& sources, const Environment& environment);
[[nodiscard]] std::string to_json(const Configuration& configuration);  // each setting, with its origin

}  // namespace sabath
