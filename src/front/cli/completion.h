// The words that may stand next on a command line, for the shells. The verbs' own declarations name them, so a new verb
// completes without another edit. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/frame/global_options.h"
#include "cli/verb.h"

namespace sabath::cli {

struct Completion {
  enum class Place { none, file, directory };
  enum class Asset { none, any, dataset, model };
  std::string before;  // part of the word that stands before each candidate: "--kind="
  std::string begun;   // the rest of the word
  std::vector<std::pair<std::string, std::string>> words;  // candidates, and a line of help each
  Place place = Place::none;                               // the shell finds files better
  Asset asset = Asset::none;                               // and so does a catalogue with names
  GlobalOptions globals;                                   // that stand on the line
};

// The last of the words is the one to be completed. bash gives "--kind=x" as three words, and wants the third one.
[[nodiscard]] Completion complete(std::vector<std::string> words, std::span<const Verb* const> verbs);

}  // namespace sabath::cli
