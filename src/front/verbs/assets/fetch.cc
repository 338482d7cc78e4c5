#include <nlohmann/json.hpp>

#include "sabath/session.h"
#include "session/asset_fields.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

FetchRecord fetch_assets(Session& session, const FetchRequest& request, EventSink& events, std::stop_token stop) {
  return session.fetch(request, events, std::move(stop));
}

}  // namespace

template <>
struct Described<FetchRequest> {
  using Of = FetchRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(names,
                   .help = "datasets or models, a model brings its default dataset; or URLs: a recipe is "
                           "written for each",
                   .argument = "NAME"),
      SABATH_FIELD(models, .help = "a model, without a dataset unless one is named", .letter = 'm', .option = "model",
                   .value = "MODEL"),
      SABATH_FIELD(datasets, .help = "a dataset", .letter = 'd', .option = "dataset", .value = "DATASET"),
      SABATH_FIELD(name, .help = "what the asset of a URL is called (default: as the URL ends)", .value = "NAME"),
      SABATH_FIELD(manifest, .help = "pin the asset to this manifest: every chunk is checked as it lands",
                   .value = "FILE"),
      SABATH_FIELD_AS("path", local_paths,
                      .help = "a local copy of a fragment (again for the next one): verified and copied, not fetched",
                      .letter = 'p', .value = "FILE"),
      SABATH_FIELD_AS("link", local_links, .help = "the same, linked instead of copied", .letter = 'l',
                      .value = "FILE"),
      SABATH_FIELD_AS("sample", selection.sample,
                      .help = "only the first N files of each archive and list, and of the single files", .value = "N"),
      SABATH_FIELD_AS("select", selection.select,
                      .help = "only files whose path in the asset matches, '!GLOB': that does not; again for more; ** "
                              "is any directories",
                      .value = "GLOB"),
      SABATH_FIELD(force, .help = "fetch again what is there, too"),
      SABATH_FIELD(refresh, .help = "ask the sources of what is not pinned whether they changed"),
      SABATH_FIELD(keep_archives, .help = "keep the archive files too, not only what is in them"),
      SABATH_FIELD(view, .help = "make a tree of files of what is kept in packs, too: an inode for each file"),
      SABATH_FIELD(dry_run, .help = "say what would be moved, and touch nothing", .letter = 'n'),
  };
};

template <>
struct Described<FetchRecord> {
  using Of = FetchRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(assets, .help = "in the order in which they were fetched"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const FetchRecord& record) { return record_text(record); }

extern constexpr LibraryVerb fetch_call = described<fetch_assets>("fetch");

}  // namespace sabath
