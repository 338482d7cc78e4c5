// Reads a command line: which verb, with which options. The only user of CLI11 is parser.cc.
// One thread. Throws Error{usage} with a suggestion.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/frame/global_options.h"
#include "cli/verb.h"

namespace sabath::cli {

struct ParsedLine {
  const Verb* verb = nullptr;  // nullptr: none was given
  std::string group;           // "manifest" when the line stops there
  bool help = false;           // -h or --help: of the verb, the group or the whole
  Action action;               // set with `verb`, unless `help`
  GlobalOptions globals;
};

[[nodiscard]] ParsedLine parse_line(const std::vector<std::string>& arguments, std::span<const Verb* const> verbs);

}  // namespace sabath::cli
