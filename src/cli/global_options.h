// The options that every verb accepts, before or after it. Plain values; absent means not given on the command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"

namespace sabath::cli {

struct GlobalOptions {
  std::vector<std::string> roots;
  std::optional<std::string> store, config;
  std::string color = "auto";
  bool verbose = false, quiet = false, json = false, offline = false, version = false;
};

void declare_global_options(OptionSet& options, GlobalOptions& globals);

}  // namespace sabath::cli
