#include "recipe/naming.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/reach.h"
#include "sabath/path.h"
#include "sabath/url.h"

namespace sabath {
namespace {

constexpr std::array<std::pair<Reach, std::string_view>, 3> names = {
    {{Reach::global, "public"}, {Reach::site, "site"}, {Reach::host, "machine"}}};

}  // namespace

void name_sources(Recipe& recipe, const Namer& namer) {
  for (Fragment& fragment : recipe.fragments)
    for (Url& url : fragment.urls) url.add_namer(namer);
  if (recipe.manifest)
    for (Url& url : recipe.manifest->urls) url.add_namer(namer);
  if (recipe.git) add_namer(recipe.git->namer, namer);
  for (GitSource& fork : recipe.forks) add_namer(fork.namer, namer);
}

std::optional<LocalPart> part_of_this_machine(const Recipe& recipe) {
  const auto is_here = [](const Url& url) { return url.scheme() == "file" || reach_of(url) == Reach::host; };
  for (const Fragment& fragment : recipe.fragments) {
    if (!fragment.urls.empty() && std::ranges::all_of(fragment.urls, is_here))
      return LocalPart{fragment.id, printable(fragment.urls.front().display(), 1000)};
  }
  const auto git = recipe.git ? Url::try_parse(recipe.git->origin) : std::nullopt;
  return git && is_here(*git) ? std::optional(LocalPart{"", printable(git->display(), 1000)}) : std::nullopt;
}

std::string_view reach_name(Reach reach) {
  for (const auto& [known, name] : names)
    if (known == reach) return name;
  return "site";  // of a link
}

std::optional<Reach> try_parse_reach(std::string_view name) {
  for (const auto& [reach, known] : names)
    if (known == name) return reach;
  return std::nullopt;
}

}  // namespace sabath
