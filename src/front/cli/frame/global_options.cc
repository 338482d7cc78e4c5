#include "cli/frame/global_options.h"

namespace sabath::cli {

void declare_global_options(OptionSet& options, GlobalOptions& globals) {
  options.option("--store,--cache", "DIR", globals.store, "the store (SABATH_STORE)");
  options.option("--root", "DIR", globals.roots, "a tree of the original SABATH, searched for recipes (SABATH_ROOT)");
  options.option("--config", "FILE", globals.config, "read this instead of the user's configuration (SABATH_CONFIG)");
  options.flag("--offline", globals.offline, "open no network connection (SABATH_OFFLINE)");
  options.flag("--json", globals.json, "print one JSON record on standard output");
  options.flag("-v,--verbose", globals.verbose, "say more");
  options.flag("-q,--quiet", globals.quiet, "say nothing but warnings and errors");
  options.choice("--color", {"auto", "always", "never"}, globals.color,
                 "colours on standard error and in reports (NO_COLOR)");
  options.flag("--version", globals.version, "print the version and the libraries");
}

}  // namespace sabath::cli
