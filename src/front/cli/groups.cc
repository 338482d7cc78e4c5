#include "cli/groups.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "verbs/verb.h"

namespace sabath::cli {
namespace {

// At most 30 daily words in all. Nouns that are to come have their place, too: `image`, `runs` and
// `workflow` in runs.
constexpr VerbGroup all_groups[] = {
    {"data", "Get data", {"fetch", "plan", "stage", "path", "view"}, {"unstage"}},
    {"runs", "Run", {"run", "job", "report", "trust"}, {"compare", "task", "log", "sample", "env"}},
    {"derive", "Derive", {"apply", "convert", "infer", "inspect"}, {"hdf5"}},
    {"catalogue", "Catalogue", {"list", "search", "info", "catalogue"}, {"cite", "fair"}},
    {"store", "Store", {"verify", "du", "gc", "rm", "keep", "adopt", "manifest"}, {"unkeep", "init"}},
    {"share", "Share", {"export", "import", "serve"}, {}},
    {"machine", "This machine", {"doctor", "site", "config"}, {"demo", "fetchers", "help"}},
};

constexpr std::pair<std::string_view, std::string_view> nouns[] = {
    {"catalogue", "recipes of your own and of others: new, edit, pin, subscribe, ..."},
    {"env", "environments of Python and conda: lock, pack, list, show, diff, image"},
    {"hdf5", "look into HDF5 files, take parts of them, hash their data"},
    {"manifest", "hash a directory, and compare it later: create, verify, diff, ..."},
    {"site", "what this machine has, and what to load: detect, show, diff, solve"},
    {"trust", "whose code may run on this machine: add, list, revoke"},
};

std::string_view first_word(std::string_view name) { return name.substr(0, name.find(' ')); }

constexpr std::size_t unplaced = 100;

// Where the group has the word; `unplaced`: it does not have it.
std::size_t place_in(const VerbGroup& group, std::string_view word) {
  const auto daily = std::ranges::find(group.daily, word);
  if (daily != group.daily.end()) return static_cast<std::size_t>(daily - group.daily.begin());
  const auto further = std::ranges::find(group.further, word);
  if (further == group.further.end()) return unplaced;
  return group.daily.size() + static_cast<std::size_t>(further - group.further.begin());
}

const VerbGroup& group_of(const Verb& verb) {
  const auto has_it = [&](const VerbGroup& group) { return place_in(group, first_word(verb.name)) != unplaced; };
  const auto found = std::ranges::find_if(all_groups, has_it);
  if (found != std::end(all_groups)) return *found;
  const VerbGroup* own = verb.library == nullptr ? nullptr : verb_group_named(verb.library->text.group);
  return own != nullptr ? *own : *std::rbegin(all_groups);
}

}  // namespace

std::span<const VerbGroup> verb_groups() { return all_groups; }

const VerbGroup* verb_group_named(std::string_view word) {
  const auto found = std::ranges::find(all_groups, word, &VerbGroup::word);
  return found == std::end(all_groups) ? nullptr : &*found;
}

std::vector<const Verb*> verbs_of(const VerbGroup& group, std::span<const Verb* const> verbs) {
  std::vector<const Verb*> members;
  std::ranges::copy_if(verbs, std::back_inserter(members),
                       [&](const Verb* verb) { return &group_of(*verb) == &group; });
  std::ranges::stable_sort(members, {}, [&](const Verb* verb) {
    return std::pair(place_in(group, first_word(verb->name)), !mode_of(*verb).empty());
  });
  return members;
}

std::string_view summary_of_noun(std::string_view noun) {
  const auto found = std::ranges::find(nouns, noun, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(nouns) ? std::string_view() : found->second;
}

}  // namespace sabath::cli
