#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/render.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/session.h"
#include "verbs/assets.h"

namespace sabath::cli {
namespace {
namespace cmd_path {

struct Options {
  std::string name, fragment;
};

// {dataset.ID} of the recipe reference: a file fragment is its file; an archive or a list the directory that holds it.
std::filesystem::path fragment_path(const std::filesystem::path& view, const Recipe& recipe, const std::string& id) {
  const auto found = std::ranges::find(recipe.fragments, id, &Fragment::id);
  if (found == recipe.fragments.end()) {
    std::vector<std::string> ids;
    for (const Fragment& fragment : recipe.fragments) ids.push_back(fragment.id);
    const auto meant = nearest(id, ids);
    throw Error(
        FailureKind::not_found, fmt::format("{} has no fragment '{}'", printable(recipe.name), printable(id)),
        meant ? fmt::format("did you mean {}?", *meant) : fmt::format("sabath info {} names them", recipe.name));
  }
  if (found->path) return view / found->path->text();
  if (found->type != FragmentType::file) return view;
  return view / RelativePath::parse(found->urls.front().file_name()).text();
}

int run(Context& context, const Options& options) {
  std::filesystem::path path = Session(context.configuration.session).path(options.name);
  if (!options.fragment.empty()) {
    const Recipe recipe = make_catalogue(context.configuration.session).find(options.name, std::nullopt);
    path = fragment_path(path, recipe, options.fragment);
  }
  if (context.presentation.json) {
    context.out.record({{"schema", 1},
                        {"name", options.name},
                        {"fragment", text_or_null(options.fragment)},
                        {"path", path.string()},
                        {"exit", 0}});
  } else {
    context.out.print(path.string() + "\n");  // for $(sabath path NAME): as it is on disk
  }
  return 0;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("NAME", options->name, "an asset that was fetched");
  set.option("--fragment", "ID", options->fragment, "the place of this part: a file, or the directory that holds it");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_path
}  // namespace

constexpr Verb path_verb{
    "path",
    "print where a fetched asset stands",
    "python train.py --data \"$(sabath path cosmoflow_mini)\"\n"
    "sabath path --fragment main cosmoflow_mini",
    "Exit code 9 when the asset, or a part of it, is not in the store: then nothing is printed on standard output.",
    false,
    cmd_path::declare,
};

}  // namespace sabath::cli
