// Scripts that a recipe offers for its data, and how a derived asset came to be: docs/apply.md. Plain values; made by
// src/catalogue/recipe, which checks what is said here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sabath/digest.h"
#include "sabath/path.h"

namespace sabath {

enum class ArgumentType { text, integer, number, flag };  // JSON: "text", "int", "float", "bool"

struct ScriptArgument {
  std::string name;
  ArgumentType type = ArgumentType::text;
  std::optional<std::string> fallback;  // "default" as text, right for the type; absent: the caller must give it
  std::string help;
  std::vector<std::string> choices;  // the only values; none: all of the type
};

struct SupportingScript {
  std::string id;  // a name
  std::string description;
  std::vector<ScriptArgument> arguments;
  std::vector<std::string> argv;             // with placeholders: recipe/script_template.h; none: it is built in
  bool per_file = true;                      // once for each input file; else once for the asset
  std::vector<std::string> inputs, outputs;  // patterns of paths: base/glob.h
  std::optional<RelativePath> source;        // a directory of code beside the recipe's file
};

// How an asset came to be: one step. That of its input, if it is derived as well, is in the input's own recipe.
struct DerivationStep {
  std::string from;                                     // the name of the input
  Sha256 input;                                         // its root
  std::string script;                                   // its id
  std::string script_root;                              // "sha256:<hex>" of its code; "": it has none of its own
  bool in_place = false;                                // the files that the script did not write are the input's
  std::map<std::string, std::string> arguments, tools;  // by name: values, versions
  Sha256 key;                                           // of all this: docs/apply.md, "The key"
};

}  // namespace sabath
