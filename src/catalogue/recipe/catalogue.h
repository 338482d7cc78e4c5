// Finds recipes by name. Directories are searched in order, the first hit wins:
//   ROOT/var/sabath/assets/*/{datasets,models,workflows}/...   the original's layout, flat or by first letter
//   DIR/{datasets,models,workflows}/...                        a recipe path entry
//   DIR/catalogues/LAB/{datasets,models,workflows}/...         catalogues of others that were subscribed there
//   STORE/recipes/{datasets,models}/...                        names that `adopt`, `convert` and others made known
//   STORE/recipes/held/{datasets,models,...}/NAME.json         under which content came: where no recipe has the name
// A recipe of a subscribed catalogue is always called LAB/NAME. NAME alone means it only where no recipe of our own has
// the name, and no other catalogue: then it is also shown so. It never stands before one of our own.
// An empty file is passed over: a command whose output it was to be has failed, or is at work.
// A file's recipe may be called by its `name` or by its file name without ".json", in any case (exact case wins).
// Below a kind's folder one level of folders is searched, so links that form a loop do no harm; at most 100,000
// entries. Files are read when they are asked for; not thread-safe. Throws Error{not_found} with a suggestion,
// Error{invalid}, Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recipe/held_names.h"
#include "sabath/error.h"
#include "sabath/recipe.h"

namespace sabath {

// Rooms of stores with names that users registered; searched last. A file counts if one of the owners has it.
struct RegisteredRecipes {
  std::vector<std::filesystem::path> rooms = {};
  std::vector<std::uint32_t> owners = {};        // user ids
  std::vector<std::filesystem::path> held = {};  // rooms of the names that fetches noted
};

// A redirection may have made the file, and filled nothing in yet: a recipe that comes later in the search has the
// name.
struct EmptyRecipe : Error {
  using Error::Error;
};

// The user whose file a recipe is, where that is another one: nullopt: it is this user's own, or the program's.
using OtherOwner = std::function<std::optional<std::uint32_t>(const std::filesystem::path& recipe)>;

class Catalogue {
 public:
  Catalogue(std::vector<std::filesystem::path> roots, std::vector<std::filesystem::path> recipe_directories,
            RegisteredRecipes registered = {}, OtherOwner other_owner = {});

  // Notes in the URLs of a recipe of a subscribed catalogue, or of another user, that they are named by others. What
  // find() and its like return has that noted.
  void note_namer(Recipe& recipe) const;

  // A name, "name@version", an id, a DOI, or a path to a recipe file (it contains '/' or ends in .json). Without
  // `kind`, datasets come before models, models before workflows, within each directory. An unreadable recipe hides
  // nothing but itself.
  [[nodiscard]] Recipe find(const std::string& name, std::optional<AssetKind> kind) const;

  // By its id or DOI, which find() takes as well. Our own come first: what a subscribed catalogue claims counts only
  // where none of ours does, and not at all with `ours_only`. Throws Error{not_found} that names all where several have
  // it.
  [[nodiscard]] std::optional<Recipe> try_identified(const std::string& identifier, std::optional<AssetKind> kind,
                                                     bool ours_only = false) const;

  // nullopt: not found, or in an empty file only.
  [[nodiscard]] std::optional<Recipe> try_find(const std::string& name, std::optional<AssetKind> kind) const;
  // The dataset that a model brings: as its recipe says, else the first of `sets` that is one, else the one of its
  // name.
  [[nodiscard]] std::optional<Recipe> dataset_of(const Recipe& model, const RunSets& sets) const;
  // What a model's steps name: of its own catalogue where it is in one, else of any. Throws as find() does.
  [[nodiscard]] Recipe used_by(const Recipe& model, const std::string& name) const;
  // Of all files, as they may be asked for by their own names; no file is read. Each once, in byte order.
  [[nodiscard]] std::vector<std::string> names(std::optional<AssetKind> kind) const;

  struct File {
    std::filesystem::path path;
    AssetKind kind;
    std::string stem;
    bool registered;
    std::string catalogue = {};  // LAB, of a subscribed one
  };
  [[nodiscard]] const std::vector<File>& files() const { return files_; }  // in the order of the search
  // What find() gives where no recipe has the name: the store holds it. Such are no files(), so that they stand in no
  // recipe's way.
  [[nodiscard]] bool is_held(const Recipe& recipe) const { return held_.has(recipe); }
  [[nodiscard]] std::vector<Recipe> held(std::optional<AssetKind> kind) const;  // of names that no recipe has

  struct Listed {
    std::optional<Recipe> recipe;
    std::string file, problem;  // problem: why it cannot be read
  };
  [[nodiscard]] Listed listed(const File& file) const;  // one of files(), read now
  [[nodiscard]] std::vector<Listed> all(
      std::optional<AssetKind> kind) const;  // by kind, then name; shadowed ones left out

 private:
  void add(const std::filesystem::path& directory, bool registered, const std::string& catalogue, std::size_t& seen);
  void add_subscribed(const std::filesystem::path& directory, std::size_t& seen);
  [[nodiscard]] Recipe named(Recipe recipe) const;
  [[nodiscard]] std::optional<Recipe> try_beside(const Recipe& model, const std::string& name,
                                                 std::optional<AssetKind> kind) const;
  [[nodiscard]] bool is_alone(const File& file) const;  // no other file has its name
  [[nodiscard]] std::optional<Recipe> find_subscribed(const std::string& name, std::optional<AssetKind> kind) const;
  [[nodiscard]] Recipe read(const File& file) const;
  void refuse_unless_path(const std::string& name) const;  // LAB/NAME that is not there, an id that no recipe has
  [[noreturn]] void throw_no_file(const std::string& path) const;
  [[noreturn]] void throw_not_found(const std::string& name, const std::vector<std::string>& names,
                                    const std::string& problem) const;

  std::vector<File> files_;                      // in the order of the search
  std::vector<std::filesystem::path> searched_;  // for people
  HeldNames held_;
  std::vector<std::uint32_t> owners_;
  OtherOwner other_owner_;
  std::map<std::pair<AssetKind, std::string>, std::size_t> stems_;  // in lower case: how many files have it
};

// Why a directory that a setting names has no recipes for a Catalogue: it is absent, it is one level too deep, or it
// has none of the three folders. Empty: it has.
[[nodiscard]] std::string doubt_about_recipes(const std::filesystem::path& directory);
[[nodiscard]] std::string doubt_about_root(const std::filesystem::path& root);  // of the original's layout

}  // namespace sabath
