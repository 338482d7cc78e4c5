// The environment variables of SABATH's own: `sabath help variables`, docs/configuration.md and the manual page show
// them. Pure; any thread.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "sabath/environment.h"

namespace sabath::cli {

struct OwnVariable {
  std::string_view name, what;
};
inline constexpr std::array<OwnVariable, 23> own_variables{{
    {"SABATH_STORE", "the store's directory, or several with colons between them (--store)"},
    {"SABATH_CACHE", "the same; if both are set they must say the same"},
    {"SABATH_RECIPES", "directories of recipes, with colons between them, searched before those of the configuration"},
    {"SABATH_ROOT", "a tree of the original SABATH, searched for recipes in var/sabath/assets (--root)"},
    {"SABATH_CONFIG", "a configuration file instead of the user's (--config)"},
    {"SABATH_OFFLINE", "1: open no network connection (--offline)"},
    {"SABATH_TOKEN", "bearer tokens: lines of \"https://data.lab TOKEN\""},
    {"SABATH_HASH_KERNEL", "the kernel that hashes pieces, of those that `sabath doctor` shows"},
    {"SABATH_STAGE", "where `run` finds what was staged (--at)"},
    {"SABATH_LOCAL_DIR", "a node's own disk, or several with colons between them, for `stage --to auto`"},
    {"SABATH_SITE", "the profile of this site's launchers, for `run` (--site)"},
    {"SABATH_PYTHON", "the Python that runs the steps of recipes, scripts and conversions"},
    {"SABATH_ORT", "the absolute path of ONNX Runtime's library"},
    {"SABATH_LIBMPI", "the absolute path of the MPI library that ranks load"},
    {"SABATH_MPI_START_SECONDS", "how long ranks may take to find each other in MPI_Init; 300 by default"},
    {"SABATH_PROGRAM", "the program `sabath` that the library and the Python package start; of the library's version"},
    {"SABATH_LIBRARY", "the library libsabath that the Python package opens"},
    {"SABATH_GLOBUS_DESTINATION", "COLLECTION:/path to which the described program globus-cli transfers"},
    {"SABATH_GLOBUS_DIRECTORY", "the same place as this machine sees it"},
    {"SABATH_RUN", "set by `run` for its programs: the directory of the run's record"},
    {"SABATH_METRICS", "set by `run` for its programs: the file to which `log` appends"},
    {"SABATH_FROM", "set by `run --from` for its programs: the directory of that asset"},
    {"SABATH_ENV", "set by `run --env` for its programs: the packed environment; bin/activate sets and reads it, too"},
}};

// The SABATH_* variables that nothing reads, in one sentence; empty: there are none.
[[nodiscard]] std::string doubt_about_variables(const Environment& environment);

}  // namespace sabath::cli
