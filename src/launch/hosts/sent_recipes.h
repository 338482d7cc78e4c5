// Recipes that a call brought, on the side that was called. One thread.
//
// They stand below DIR/DIGEST/catalogues/sent, where DIGEST is of all of them: as recipes of a subscribed catalogue
// they are what others wrote, so that their code is asked about, and their URLs name no file and no near host of this
// machine (docs/trust.md). A file is written once, and stays: a job reads it later. What no call used for half a year
// goes, and there is a bound for all together. Throws Error{invalid} for what is no recipe and no record of a run,
// Error{access} for a directory that others may write, Error{space} above the bound, Error{storage}.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hosts/call_text.h"
#include "recipe/catalogue.h"

namespace sabath {

struct PlacedRecipes {
  std::filesystem::path directory;           // of recipes; empty: none was needed
  std::vector<std::filesystem::path> files;  // in the order of the call
};

// Throws unless each is a recipe with the digest, kind and name that the call says.
void check_sent(const std::vector<SentRecipe>& recipes);
// True if all are here already: the catalogue finds each by its name, and the file has the same digest.
[[nodiscard]] bool has_all(const Catalogue& catalogue, const std::vector<SentRecipe>& recipes);
[[nodiscard]] PlacedRecipes place_sent(const std::filesystem::path& home, const std::vector<SentRecipe>& recipes);

// The record that a call brought as its lock, in a file of this call alone, among what others wrote.
class PlacedLock {
 public:
  PlacedLock(const std::filesystem::path& home, const std::string& lock);
  ~PlacedLock();
  PlacedLock(const PlacedLock&) = delete;
  PlacedLock& operator=(const PlacedLock&) = delete;
  [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }

 private:
  std::filesystem::path file_;
};

}  // namespace sabath
