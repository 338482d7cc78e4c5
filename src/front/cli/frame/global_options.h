// The options that every verb accepts, before or after it. Plain values; absent means not given on the command line.
#pragma once

#include <string>

#include "cli/frame/options.h"
#include "sabath/configuration.h"

namespace sabath::cli {

struct GlobalOptions : ConfigurationSources {
  std::string color = "auto";
  bool verbose = false, quiet = false, json = false, version = false;
};

void declare_global_options(OptionSet& options, GlobalOptions& globals);

}  // namespace sabath::cli
