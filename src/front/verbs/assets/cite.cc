#include "sabath/verbs/cite.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "holdings/holding.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/verb.h"

namespace sabath {

CiteRecord cite(Session& session, const CiteRequest& request, EventSink&, std::stop_token) {
  CiteRecord record;
  const Catalogue catalogue = make_catalogue(session.settings());
  for (const std::string& name : request.names) {
    const Recipe recipe = catalogue.find(name, std::nullopt);
    if (recipe.citation.empty()) {
      const std::string& lead = !recipe.homepage.empty() ? recipe.homepage : recipe.origin;
      throw Error(FailureKind::not_found, fmt::format("the recipe of {} has no citation", printable(recipe.name)),
                  recipe.references.empty() ? fmt::format("see {}", lead)
                                            : fmt::format("its references: {}", recipe.references.front()));
    }
    record.assets.push_back({recipe.name, recipe.citation});
  }
  return record;
}

template <>
struct Described<CiteRequest> {
  using Of = CiteRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(names, .help = "an asset", .required = true, .argument = "NAME"),
  };
};

template <>
struct Described<AssetCitations> {
  using Of = AssetCitations;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the asset"),
      SABATH_FIELD_AS("citation", citations, .help = "each way to cite it, of several lines"),
  };
};

template <>
struct Described<CiteRecord> {
  using Of = CiteRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(assets, .help = "those that were named"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const CiteRecord& record) { return record_text(record); }

extern constexpr LibraryVerb cite_call = described<cite>("cite");

}  // namespace sabath
