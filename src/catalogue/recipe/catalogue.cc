#include "recipe/catalogue.h"

#include <dirent.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>

#include "base/file.h"
#include "base/reach.h"
#include "base/text.h"
#include "base/wording.h"
#include "recipe/identifier.h"
#include "recipe/naming.h"
#include "recipe/parse.h"
#include "recipe/recipe_file.h"
#include "recipe/subscribed.h"
#include "sabath/error.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t entries_max = 100'000;
struct FolderEntry {
  std::string name;
  bool is_directory = false;
};

bool leads_to_directory(const fs::path& path) {
  struct stat status {};  // a link to itself, say, is none: then reading it will fail
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// Entries of a directory in byte order of their names, hidden ones left out; none if it is absent. By names alone:
// thousands of recipes are listed at each search.
std::vector<FolderEntry> sorted_entries(const fs::path& directory, std::size_t& seen) {
  std::vector<FolderEntry> entries;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), ::closedir);
  if (open == nullptr && errno != ENOENT && errno != ENOTDIR) throw_errno("list", directory, errno);
  errno = 0;
  for (const dirent* next = nullptr; open != nullptr && (next = ::readdir(open.get())) != nullptr; errno = 0) {
    const std::string_view name = next->d_name;
    if (name == "." || name == "..") continue;
    if (++seen > entries_max) {
      throw Error(FailureKind::invalid,
                  fmt::format("more than {} files where recipes are searched, in {}", entries_max,
                              printable(directory.native(), 1000)),
                  "name a directory that holds recipes only");
    }
    if (name.starts_with('.')) continue;
    const bool is_sure = next->d_type == DT_DIR || next->d_type == DT_REG;
    entries.push_back({std::string(name), is_sure ? next->d_type == DT_DIR : leads_to_directory(directory / name)});
  }
  if (open != nullptr && errno != 0) throw_errno("list", directory, errno);
  std::ranges::sort(entries, {}, &FolderEntry::name);
  return entries;
}

// The kind by the names of a file's folders, the innermost first: of what the original, too, has.
std::optional<AssetKind> kind_of_folder(const fs::path& file) {
  for (fs::path folder = fs::absolute(file).parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    const auto kind = try_kind_of_folder(folder.filename().native());
    if (kind && (is_code(*kind) || kind == AssetKind::dataset)) return kind;
  }
  return std::nullopt;
}

Recipe read_path(const fs::path& path, std::optional<AssetKind> kind) {
  Recipe recipe = parse_recipe(read_recipe_file(path), path.native(),
                               kind_of_folder(path).value_or(kind.value_or(AssetKind::dataset)));
  if (kind && recipe.kind != *kind) {
    throw Error(FailureKind::not_found, fmt::format("{} describes \"{}\", which is not one of the {}",
                                                    printable(path.native(), 1000), recipe.name, kind_folder(*kind)));
  }
  return recipe;
}

bool stands(const fs::path& path) {
  const auto status = try_stat(path);
  return status && S_ISDIR(status->st_mode);
}

[[noreturn]] void refuse_several(const std::string& name, const std::vector<std::string>& others) {
  throw Error(FailureKind::not_found, fmt::format("\"{}\" is in several catalogues", printable(name)),
              fmt::format("say which: {}", fmt::join(others, ", ")));
}

// Of NAME@VERSION, where NAME is known.
std::string versions_hint(const std::string& name, const std::vector<std::string>& names) {
  const std::size_t at = name.find('@');
  if (at == std::string::npos) return {};
  std::vector<std::string> versions;
  for (const std::string& each : names) {
    if (each.starts_with(name.substr(0, at + 1))) versions.push_back(printable(each));
  }
  if (!versions.empty()) return fmt::format("there is {}", fmt::join(versions, ", "));
  const bool known = std::ranges::find(names, name.substr(0, at)) != names.end();
  return known ? fmt::format("the recipe of {} states no version: say its name alone", printable(name.substr(0, at)))
               : "";
}

std::string listed_places(const std::vector<fs::path>& places) {
  std::string text;
  for (const fs::path& place : places) text += (text.empty() ? "" : ", ") + printable(place.native(), 1000);
  return text.empty() ? "no directory" : text;
}

bool is_kind_folder(const fs::path& name) { return try_kind_of_folder(name.native()).has_value(); }

}  // namespace

std::string kind_folders_text() {
  std::string text;
  for (const KindName& kind : kind_names) text += fmt::format("{}{}", text.empty() ? "" : ", ", kind.folder);
  return text;
}

std::string doubt_about_recipes(const fs::path& directory) {
  const std::string shown = printable(directory.native(), 1000);
  if (!stands(directory)) return fmt::format("there is no directory {}, which is to hold recipes", shown);
  if (std::ranges::any_of(kind_names, [&](const auto& kind) { return stands(directory / kind.folder); })) return {};
  if (stands(directory / "catalogues") || stands(directory / "removed")) return {};  // of others; of what was here
  if (is_kind_folder(directory.filename())) {
    return fmt::format("{} is one level too deep: recipes are found by the directory above it", shown);
  }
  return fmt::format("{} holds no recipes: they are in its folders {}", shown, kind_folders_text());
}

std::string doubt_about_root(const fs::path& root) {
  if (stands(root / "var/sabath/assets")) return {};
  return fmt::format("the root {} has no var/sabath/assets, where the recipes of an original SABATH are",
                     printable(root.native(), 1000));
}

Catalogue::Catalogue(std::vector<fs::path> roots, std::vector<fs::path> recipe_directories,
                     RegisteredRecipes registered, OtherOwner other_owner)
    : searched_(recipe_directories),
      held_(std::move(registered.held), registered.owners),
      owners_(std::move(registered.owners)),
      other_owner_(std::move(other_owner)) {
  std::size_t seen = 0;
  for (const fs::path& root : roots) {
    const fs::path all = root / "var" / "sabath" / "assets";
    for (const FolderEntry& assets : sorted_entries(all, seen)) add(all / assets.name, false, "", seen);
  }
  for (const fs::path& directory : recipe_directories) add(directory, false, "", seen);
  for (const fs::path& room : registered.rooms) add(room, true, "", seen);
  for (const fs::path& directory : recipe_directories) add_subscribed(directory, seen);
  const bool any = !files_.empty() && !files_.back().catalogue.empty();
  if (!any) return;
  for (const File& file : files_) ++stems_[{file.kind, to_lower(file.stem)}];
}

void Catalogue::add_subscribed(const fs::path& directory, std::size_t& seen) {
  const fs::path all = directory / "catalogues";
  for (const FolderEntry& entry : sorted_entries(all, seen)) {
    if (is_name(entry.name) && try_stat(all / entry.name / subscription_file))
      add(all / entry.name, false, entry.name, seen);
  }
}

bool Catalogue::is_alone(const File& file) const {
  const auto found = stems_.find({file.kind, to_lower(file.stem)});
  return found != stems_.end() && found->second == 1;
}

void Catalogue::add(const fs::path& directory, bool registered, const std::string& catalogue, std::size_t& seen) {
  constexpr std::string_view ending = ".json";
  for (const auto& [kind, kind_word, folder] : kind_names) {
    const auto add_file = [&, kind = kind](const fs::path& place, const std::string& name) {
      if (!name.ends_with(ending) || name.size() == ending.size()) return;
      files_.push_back({place / name, kind, name.substr(0, name.size() - ending.size()), registered, catalogue});
    };
    const fs::path place = directory / folder;
    for (const FolderEntry& entry : sorted_entries(place, seen)) {
      if (registered || !entry.is_directory) {
        add_file(place, entry.name);
        continue;
      }
      const fs::path inner = place / entry.name;
      for (const FolderEntry& each : sorted_entries(inner, seen)) add_file(inner, each.name);
    }
  }
}

Recipe Catalogue::read(const File& file) const {
  const std::string text = file.registered ? read_registered(file.path, owners_) : read_recipe_file(file.path);
  Recipe recipe = parse_recipe(text, file.path.native(), file.kind);
  if (recipe.kind != file.kind) {
    throw Error(FailureKind::invalid,
                fmt::format("{} lies among the {}, but its \"kind\" says otherwise",
                            printable(file.path.native(), 1000), kind_folder(file.kind)),
                fmt::format("move it to {}/", kind_folder(recipe.kind)));
  }
  if (file.registered && recipe.name != file.stem) {  // it was moved here, over another
    throw Error(FailureKind::invalid,
                fmt::format("{} is the recipe of \"{}\"", printable(file.path.native(), 1000), printable(recipe.name)),
                fmt::format("move it to {}.json", printable(recipe.name)));
  }
  // Another name than its file's would not be seen to be taken.
  if (!file.catalogue.empty() && (recipe.name != file.stem || !is_alone(file)))
    recipe.name = fmt::format("{}/{}", file.catalogue, recipe.name);
  return recipe;
}

void Catalogue::note_namer(Recipe& recipe) const {
  if (const fs::path subscription = subscription_of(recipe.origin); !subscription.empty())
    return name_sources(recipe, Namer{.reach = reach_of_subscription(subscription)});
  const auto other = other_owner_ ? other_owner_(recipe.origin) : std::nullopt;
  if (other) name_sources(recipe, Namer{.reach = Reach::host, .user = other});
}

Recipe Catalogue::named(Recipe recipe) const {
  note_namer(recipe);
  return recipe;
}

Recipe Catalogue::find(const std::string& name, std::optional<AssetKind> kind) const {
  if (auto recipe = find_subscribed(name, kind)) return named(std::move(*recipe));
  if (is_identifier(name)) {
    if (auto recipe = try_identified(name, kind)) return named(std::move(*recipe));
  }
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".json");
  if ((is_path || is_identifier(name)) && !try_stat(name)) {
    refuse_unless_path(name);
    if (is_path) throw_no_file(name);
  }
  if (is_path) return named(read_path(name, kind));
  const std::size_t at = name.find('@');
  const std::string wanted = name.substr(0, at), wanted_lower = to_lower(wanted);
  const std::string version = at == std::string::npos ? std::string() : name.substr(at + 1);
  std::optional<Recipe> second_choice;  // right but for its case
  std::vector<std::string> names;
  std::string problem;
  std::optional<EmptyRecipe> empty;
  std::vector<std::string> others;  // names of subscribed catalogues that this one may mean
  for (const File& file : files_) {
    if (kind && file.kind != *kind) continue;
    if (!file.catalogue.empty() && !is_alone(file)) {
      if (to_lower(file.stem) == wanted_lower) others.push_back(fmt::format("{}/{}", file.catalogue, file.stem));
      continue;
    }
    std::optional<Recipe> recipe;
    try {
      recipe = read(file);
    } catch (const EmptyRecipe& error) {
      if (file.stem == wanted && !empty) empty = error;
      continue;
    } catch (const Error& error) {
      if (file.stem == wanted && !file.registered) throw;
      if (problem.empty()) problem = error.failure().message;
      continue;
    }
    const bool has_version = at == std::string::npos || recipe->version == version;
    if (has_version && (recipe->name == wanted || file.stem == wanted)) return named(std::move(*recipe));
    const bool alike = to_lower(recipe->name) == wanted_lower || to_lower(file.stem) == wanted_lower;
    names.push_back(recipe->name);
    if (at != std::string::npos && !recipe->version.empty())
      names.push_back(fmt::format("{}@{}", recipe->name, recipe->version));
    if (alike && has_version && !second_choice) second_choice = std::move(recipe);
  }
  if (second_choice) return named(std::move(*second_choice));
  if (!others.empty()) refuse_several(name, others);
  if (empty) throw EmptyRecipe(*empty);
  if (auto held = held_.try_find(wanted, at == std::string::npos ? std::nullopt : std::optional(version), kind))
    return std::move(*held);
  throw_not_found(name, names, problem);
}

std::vector<Recipe> Catalogue::held(std::optional<AssetKind> kind) const {
  std::vector<Recipe> recipes = held_.all(kind);
  std::erase_if(recipes, [&](const Recipe& recipe) {
    const auto first = try_find(recipe.name, recipe.kind);
    return !first || first->origin != recipe.origin;
  });
  return recipes;
}

// LAB/NAME, where LAB is a subscribed catalogue.
std::optional<Recipe> Catalogue::find_subscribed(const std::string& name, std::optional<AssetKind> kind) const {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos || slash == 0 || stems_.empty()) return std::nullopt;
  const std::string catalogue = name.substr(0, slash), inner = name.substr(slash + 1);
  const std::size_t at = inner.find('@');
  const std::string wanted = to_lower(inner.substr(0, at));
  for (const File& file : files_) {
    if (file.catalogue != catalogue || (kind && file.kind != *kind) || to_lower(file.stem) != wanted) continue;
    Recipe recipe = read(file);
    if (at == std::string::npos || recipe.version == inner.substr(at + 1)) return recipe;
  }
  return std::nullopt;
}

void Catalogue::throw_no_file(const std::string& path) const {
  std::vector<std::string> others;
  for (const File& file : files_) {
    if (!file.catalogue.empty()) others.push_back(fmt::format("{}/{}", file.catalogue, file.stem));
  }
  const auto meant = nearest(path, others);
  const std::string host = path.substr(0, path.find('/'));
  if (!meant && !host.starts_with('.') && host.find_first_of(".:") != host.npos && host.size() < path.size()) {
    throw Error(FailureKind::not_found, fmt::format("there is no recipe file {}", printable(path, 1000)),
                fmt::format("if it is a URL, write how it is read: http://{}", printable(path, 1000)));
  }
  throw Error(FailureKind::not_found, fmt::format("there is no recipe file {}", printable(path, 1000)),
              meant ? fmt::format("did you mean \"{}\"?", *meant)
                    : fmt::format("`{}` shows the names that are known here", verb_text("list")));
}

void Catalogue::throw_not_found(const std::string& name, const std::vector<std::string>& names,
                                const std::string& problem) const {
  std::string hint = versions_hint(name, names);
  if (hint.empty()) {
    const auto meant = nearest(name, names);
    hint = fmt::format("{}`{}` shows all that are known here",
                       meant ? fmt::format("did you mean \"{}\"? ", *meant) : "", verb_text("list"));
    if (!meant)
      hint += fmt::format("; they are searched in {}, and where SABATH_RECIPES says", listed_places(searched_));
  }
  if (!problem.empty()) hint += fmt::format("; not readable: {}", problem);
  throw Error(FailureKind::not_found, fmt::format("no recipe named \"{}\"", printable(name)), hint);
}

std::optional<Recipe> Catalogue::try_find(const std::string& name, std::optional<AssetKind> kind) const {
  try {
    return find(name, kind);
  } catch (const EmptyRecipe&) {
    return std::nullopt;
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::not_found) throw;
    return std::nullopt;
  }
}

std::vector<std::string> Catalogue::names(std::optional<AssetKind> kind) const {
  std::set<std::string> names;
  for (const File& file : files_) {
    if (kind && file.kind != *kind) continue;
    names.insert(file.catalogue.empty() || is_alone(file) ? file.stem
                                                          : fmt::format("{}/{}", file.catalogue, file.stem));
  }
  return {names.begin(), names.end()};
}

Catalogue::Listed Catalogue::listed(const File& file) const {
  Listed entry{std::nullopt, file.path.native(), {}};
  try {
    entry.recipe = read(file);
  } catch (const Error& error) {
    entry.problem = error.failure().message;
  }
  return entry;
}

std::vector<Catalogue::Listed> Catalogue::all(std::optional<AssetKind> kind) const {
  std::vector<Listed> listed;
  std::set<std::tuple<AssetKind, std::string, std::string>> shown;
  std::vector<std::pair<AssetKind, std::string>> order;
  for (const File& file : files_) {
    if (kind && file.kind != *kind) continue;
    Listed entry = this->listed(file);
    if (entry.recipe && !shown.emplace(file.kind, to_lower(entry.recipe->name), entry.recipe->version).second) {
      if (file.catalogue.empty() || entry.recipe->name.find('/') != std::string::npos) continue;
      entry.recipe->name =
          fmt::format("{}/{}", file.catalogue, entry.recipe->name);  // ours is called otherwise by its file
    }
    order.emplace_back(file.kind, to_lower(entry.recipe ? entry.recipe->name : file.stem));
    listed.push_back(std::move(entry));
  }
  std::vector<std::size_t> index(listed.size());
  for (std::size_t i = 0; i < index.size(); ++i) index[i] = i;
  std::stable_sort(index.begin(), index.end(), [&](std::size_t a, std::size_t b) { return order[a] < order[b]; });
  std::vector<Listed> sorted;
  for (const std::size_t i : index) sorted.push_back(std::move(listed[i]));
  return sorted;
}

}  // namespace sabath
