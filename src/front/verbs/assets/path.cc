#include "sabath/verbs/path.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"
#include "base/wording.h"
#include "holdings/holding.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/session.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

// {dataset.ID} of the recipe reference: a file fragment is its file; an archive or a list the directory that holds it.
std::filesystem::path fragment_path(const std::filesystem::path& top, const Recipe& recipe, const std::string& id) {
  const auto found = std::ranges::find(recipe.fragments, id, &Fragment::id);
  if (found == recipe.fragments.end()) {
    std::vector<std::string> ids;
    for (const Fragment& fragment : recipe.fragments) ids.push_back(fragment.id);
    const auto meant = nearest(id, ids);
    throw Error(FailureKind::not_found, fmt::format("{} has no fragment '{}'", printable(recipe.name), printable(id)),
                meant ? fmt::format("did you mean {}?", *meant)
                      : fmt::format("{} {} names them", verb_text("info"), recipe.name));
  }
  if (found->path) return top / found->path->text();
  if (found->type != FragmentType::file) return top;
  return top / RelativePath::parse(found->urls.front().file_name()).text();
}

}  // namespace

PathRecord find_path(Session& session, const PathRequest& request, EventSink&, std::stop_token) {
  PathRecord record{request.name, request.fragment, session.path(request.name)};
  if (!request.fragment.empty()) {
    const Recipe recipe = make_catalogue(session.settings()).find(request.name, std::nullopt);
    record.path = fragment_path(record.path, recipe, request.fragment);
  }
  return record;
}

template <>
struct Described<PathRequest> {
  using Of = PathRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "an asset that was fetched", .required = true, .argument = "NAME"),
      SABATH_FIELD(fragment, .help = "the place of this part: a file, or the directory that holds it", .value = "ID"),
  };
};

template <>
struct Described<PathRecord> {
  using Of = PathRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the asset"),
      SABATH_FIELD(fragment, .help = "the part of it; null: all of it", .null_if_empty = true),
      SABATH_FIELD(path, .help = "where it is"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const PathRecord& record) { return record_text(record); }

extern constexpr LibraryVerb path_call = described<find_path>("path");

}  // namespace sabath
