// From a recipe's steps to the commands that run: chooses the set, and fills in its placeholders. Values reach a
// program as arguments, never as text that a shell reads. In a recipe's shell step, a value that a shell could read as
// more than text is refused. Pure; any thread. Throws Error{not_found}, Error{usage}, Error{invalid}.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "run/settings.h"
#include "sabath/recipe.h"

namespace sabath {

struct Places {
  std::string source, dataset, from;  // empty: there is none
  // By id: a file and its directory; of an archive or a list both are the directory that holds it, as the original has
  // it: there the packed file itself lies among what was unpacked.
  struct Fragment {
    std::string path, directory;
  };
  std::map<std::string, Fragment> fragments, model_files;  // of the dataset; of the model itself
  std::map<std::string, std::string> assets;               // directories, by name
  Config config;
  unsigned nodes = 1, ranks = 1;
};

struct Launch {
  std::vector<std::string> argv;  // of a shell step: /bin/sh -c TEXT
  bool parallel = false;
  bool told_ranks = false;  // by {ranks} or {nodes}: it may start ranks by itself
};

// The set whose key names the dataset, in any case. Recipes of schema 0 have other keys as well: the id of a fragment,
// or one set for all datasets. Empty `wanted`: as the dataset says.
[[nodiscard]] const std::pair<std::string, std::vector<Step>>& choose_set(const Recipe& model, const RunSets& sets,
                                                                          const Recipe& dataset,
                                                                          const std::string& wanted);

// Where the fragments of an asset stand below its view.
[[nodiscard]] std::map<std::string, Places::Fragment> fragment_places(const Recipe& asset, const std::string& view);

// `extra`: arguments for the last step.
[[nodiscard]] std::vector<Launch> expand(const std::vector<Step>& steps, const Places& places,
                                         const std::vector<std::string>& extra);

[[nodiscard]] std::vector<std::string> asset_names(const std::vector<Step>& steps);  // of {asset.NAME}, likewise
[[nodiscard]] std::vector<std::string> config_keys(const std::vector<Step>& steps);  // each once, in order
[[nodiscard]] bool uses_model_files(const std::vector<Step>& steps);
[[nodiscard]] bool takes_ranks(const std::vector<Step>& steps);  // a step is parallel, or is told how many there are
[[nodiscard]] bool uses_source(const std::vector<Step>& steps);

// As a person would type it: words quoted where a shell needs it, hidden characters by their numbers ($'\342\200\256').
[[nodiscard]] std::string shell_line(const std::vector<std::string>& argv);

}  // namespace sabath
