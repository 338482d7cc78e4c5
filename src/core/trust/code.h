// Code that an asset brings, as a person decides about it: where it is from, which version, what would run.
// Plain values; any thread. docs/trust.md says what the parts mean.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/ownership.h"
#include "sabath/digest.h"

namespace sabath {

struct AssetCode {
  std::string name;    // of the asset
  std::string recipe;  // the file that says what runs
  Ownership recipe_of = Ownership::others;
  std::string origin;                 // of the code: a repository, a URL, a directory; empty: commands only
  std::string commit;                 // the whole git commit, or "sha256:<root>" of the tree; empty: no tree
  bool fixed = false;                 // the recipe names these very bytes, or they stand in the user's own directory
  std::vector<std::string> commands;  // as a person would type them, placeholders as the recipe has them
  bool whole = true;                  // commands are all there are
  bool in_data = false;               // it stands in files that are read: `commands` says in which, and what it imports
  bool subscribed = false;            // the recipe is of a catalogue of others: its origin is never trusted as such
  Sha256 digest;                      // of all that decides what the commands do: digest_of()
};

// Of these words in this order; where one ends and the next begins is part of it.
[[nodiscard]] Sha256 digest_of(std::span<const std::string> words);

// No question is needed: the recipe is the user's own or came with the program, and says which bytes it means.
[[nodiscard]] bool needs_no_trust(const AssetCode& code);

// Lines for people: recipe, origin, commit, each command whole. Printable, bounded: if not all fits, the last line says
// how many commands there are.
[[nodiscard]] std::string text_of(const AssetCode& code);
// False: text_of() does not show all, so there is no question.
[[nodiscard]] bool shows_all(const AssetCode& code);

}  // namespace sabath
