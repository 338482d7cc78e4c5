// What a call of `apply` means: arguments, the key of the new asset, which files the script reads, who does which.
// Pure; any thread. Throws Error{usage}, Error{not_found}. docs/apply.md has the key's form and a vector.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "manifest/manifest.h"
#include "sabath/supporting.h"

namespace sabath {

using ScriptArguments = std::map<std::string, std::string>;  // by name, each in its one form

// "KEY=VALUE" as the script declares them, with its defaults. `what` names the script for people.
[[nodiscard]] ScriptArguments resolve_arguments(const SupportingScript& script, const std::vector<std::string>& given);

struct ScriptStep {
  SupportingScript script;
  ScriptArguments arguments;
  std::string script_root;                   // "sha256:<hex>"; "": no code of its own
  std::map<std::string, std::string> tools;  // by name: versions
};

// Canonical JSON: keys in byte order, no spaces, UTF-8. Of a step alone, and of what it makes of an asset.
[[nodiscard]] std::string step_text(const ScriptStep& step);
[[nodiscard]] std::string key_text(const ScriptStep& step, const Sha256& input, bool in_place);
// What the step makes of one file, in any asset that has it under this path.
// `asset`: the root of the input, if the step may read more of it than the file.
[[nodiscard]] Sha256 file_key(const Sha256& step, const Entry& file, const std::optional<Sha256>& asset);
[[nodiscard]] bool reads_more(const SupportingScript& script);  // than its input file

// The files that the script reads, in the manifest's order.
[[nodiscard]] std::vector<Entry> inputs_of(const SupportingScript& script, const Manifest& manifest);

// By bytes, largest first; every rank computes the same. Places in `files`, ascending.
[[nodiscard]] std::vector<std::size_t> dealt_to(const std::vector<Entry>& files, unsigned rank, unsigned ranks);

// NAME+SCRIPT-KEY, KEY being 12 digits; at most as long as a name may be.
[[nodiscard]] std::string derived_name(const std::string& from, const std::string& script, const Sha256& key);

struct ScriptPlaces {
  std::string input, output, dataset, source;
  std::string name, stem;  // of the input file
  unsigned threads = 1;
};
[[nodiscard]] std::vector<std::string> filled(const ScriptStep& step, const ScriptPlaces& places);

}  // namespace sabath
