#include "catalogues/export.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/wording.h"
#include "sabath/error.h"
#include "verbs/verb.h"

namespace sabath {

ExportedCatalogueRecord catalogue_export(Session& session, const ExportCatalogueRequest& request, EventSink&,
                                         std::stop_token stop) {
  if (request.all && !request.names.empty())
    throw Error(FailureKind::usage, fmt::format("{} is of every recipe, and some are named", option_text("all")),
                "leave out the one or the others");
  return write_catalogue(session.settings(), request, stop);
}

template <>
struct Described<ExportCatalogueRequest> {
  using Of = ExportCatalogueRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(directory, .help = "absent or empty, or an earlier export", .required = true, .argument = "DIR"),
      SABATH_FIELD(names, .help = "assets (default: all of your own)", .argument = "NAME"),
      SABATH_FIELD(all, .help = "also what came with the program"),
      SABATH_FIELD(pin, .help = "write what the store holds of each into what is exported, as `catalogue pin` does"),
  };
};

template <>
struct Described<ExportedCatalogueRecord> {
  using Of = ExportedCatalogueRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(index, .help = "the file that others subscribe"),
      SABATH_FIELD(assets, .help = "recipes in it"),
      SABATH_FIELD(tombstones, .help = "of removed recipes, in it"),
      SABATH_FIELD(left_out, .help = "recipes that cannot be read, and why"),
      SABATH_FIELD(unpinned, .help = "recipes that were to be pinned, and why they are not"),
      SABATH_FIELD(doubts, .help = "what subscribers cannot use, and why"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const ExportedCatalogueRecord& record) { return record_text(record); }

extern constexpr LibraryVerb catalogue_export_call = described<catalogue_export>("catalogue export");

}  // namespace sabath
