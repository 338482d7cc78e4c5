#include <nlohmann/json.hpp>

#include "fields/asset_kind.h"
#include "fields/failure.h"
#include "sabath/verbs/plan.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

PlanRecord plan_assets(Session& session, const PlanRequest& request, EventSink& events, std::stop_token stop) {
  return session.plan(request, events, std::move(stop));
}

struct BiggestFile {
  std::string path;
  std::uint64_t bytes = 0;
};

}  // namespace

template <>
struct Described<PlanRequest> {
  using Of = PlanRequest;
  static constexpr Field table[] = {
      SABATH_FIELD_AS("names", fetch.names, .help = "datasets or models; a model brings its default dataset",
                      .argument = "NAME"),
      SABATH_FIELD_AS("models", fetch.models, .help = "a model, without a dataset unless one is named", .letter = 'm',
                      .option = "model", .value = "MODEL"),
      SABATH_FIELD_AS("datasets", fetch.datasets, .help = "a dataset", .letter = 'd', .option = "dataset",
                      .value = "DATASET"),
      SABATH_FIELD_AS("name", fetch.name, .help = "what the asset of a URL is called", .hidden = true),
      SABATH_FIELD_AS("sample", fetch.selection.sample,
                      .help = "only the first N files of each archive and list, and of the single files", .value = "N"),
      SABATH_FIELD_AS("select", fetch.selection.select,
                      .help = "only files whose path in the asset matches, '!GLOB': that does not; again for more; ** "
                              "is any directories",
                      .value = "GLOB"),
      SABATH_FIELD_AS("force", fetch.force, .help = "as for a fetch that believes nothing of what is there"),
      SABATH_FIELD(to, .help = "also whether `stage` could bring it to this directory of this node", .value = "DIR"),
      SABATH_FIELD_AS("requests", requests_max,
                      .help = "ask at most N times for sizes that no recipe states (default 64; 0, or --offline: "
                              "never)",
                      .maximum = 10'000, .value = "N"),
  };
};

template <>
struct Described<FilesAndBytes> {
  using Of = FilesAndBytes;
  static constexpr Field table[] = {
      SABATH_FIELD(files, .help = "files", .unit = "files"),
      SABATH_FIELD(bytes, .help = "their bytes, as far as they are known", .unit = "bytes"),
  };
};

template <>
struct Described<PlannedSource> {
  using Of = PlannedSource;
  static constexpr Field table[] = {
      SABATH_FIELD(fragment, .help = "whose mirror it is; null: the asset's git source", .null_if_empty = true),
      SABATH_FIELD(url, .help = "without query"),
      SABATH_FIELD(readable, .help = "a fetcher of this build knows its scheme"),
      SABATH_FIELD(size_bytes, .help = "as it says, where it was asked", .unit = "bytes"),
      SABATH_FIELD(expires_in_s, .help = "until it ends", .unit = "seconds"),
      SABATH_FIELD(expires_by, .help = "what ends; null: nothing that is known", .null_if_empty = true),
      SABATH_FIELD(problem, .help = "why it could not be asked", .null_if_empty = true),
  };
};

template <>
struct Described<BiggestFile> {
  using Of = BiggestFile;
  static constexpr Field table[] = {
      SABATH_FIELD(path, .help = "in the asset", .null_if_empty = true),
      SABATH_FIELD(bytes, .help = "its size", .unit = "bytes"),
  };
};

template <>
struct Described<PlannedAsset> {
  using Of = PlannedAsset;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "of the recipe"),
      SABATH_FIELD(kind, .help = "of the recipe"),
      SABATH_FIELD(manifest, .help = "its root; null: it is not known", .null_if_empty = true),
      SABATH_FIELD(all, .help = "of the asset, as far as that is known"),
      SABATH_FIELD(by_source, .help = "here, and known to be what the source gave or the pin names"),
      SABATH_FIELD(by_content, .help = "here, from another source: known by a published checksum"),
      SABATH_FIELD(by_chunk_bytes, .help = "of files to fetch: chunks that other objects hold", .unit = "bytes"),
      SABATH_FIELD(in_partials_bytes, .help = "of files to fetch: arrived in earlier tries", .unit = "bytes"),
      SABATH_FIELD(to_fetch, .help = "what would move, as far as sizes are known"),
      SABATH_FIELD(files_without_size, .help = "files to fetch whose size is not known", .unit = "files"),
      SABATH_FIELD(lists, .help = "of these: they name more files, whose sizes are not known yet", .unit = "files"),
      SABATH_FIELD(archives, .help = "of these: what comes out of them is not known yet", .unit = "files"),
      SABATH_FIELD(store_bytes, .help = "what the disk must take", .unit = "bytes"),
      SABATH_FIELD(store_inodes, .help = "what the disk must take", .unit = "inodes"),
      SABATH_VALUE("biggest", ([](const Of& of) {
                     return BiggestFile{of.biggest_path, of.biggest_bytes};
                   }),
                   .help = "the largest file to fetch"),
      SABATH_FIELD(sources, .help = "where it would come from"),
      SABATH_FIELD(steps, .help = "what a person must do first"),
      SABATH_FIELD(refused, .help = "why it cannot be fetched, even with enough space"),
  };
};

template <>
struct Described<PlannedLimit> {
  using Of = PlannedLimit;
  static constexpr Field table[] = {
      SABATH_FIELD(what, .help = "bytes, inodes, a quota, a file's size, memory, walltime"),
      SABATH_FIELD(by, .help = "who says so: a directory, a program, a variable"),
      SABATH_FIELD(needed, .help = "bytes, inodes, or seconds"),
      SABATH_FIELD(available, .help = "less what others reserved"),
      SABATH_FIELD(reserved, .help = "by others"),
      SABATH_FIELD(fits, .help = "null: not all that it needs is known, and what is known fits"),
  };
};

template <>
struct Described<PlanRecord> {
  using Of = PlanRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(store, .help = "the store"),
      SABATH_FIELD(fits, .help = "as of each limit, of all together"),
      SABATH_FIELD(assets, .help = "what was asked for"),
      SABATH_FIELD(bytes_to_fetch, .help = "of all assets", .unit = "bytes"),
      SABATH_FIELD(store_bytes, .help = "what the disk must take", .unit = "bytes"),
      SABATH_FIELD(store_inodes, .help = "what the disk must take", .unit = "inodes"),
      SABATH_FIELD(sizes_known, .help = "false: `bytes_to_fetch` and what follows from it are lower bounds"),
      SABATH_FIELD(limits, .help = "of the store, then of the node's directory"),
      SABATH_FIELD(unknown, .help = "limits that could not be asked, and why"),
      SABATH_FIELD(bytes_per_second, .help = "by earlier fetches from the same places", .unit = "bytes a second"),
      SABATH_FIELD(seconds, .help = "how long it takes at that rate", .unit = "seconds"),
      SABATH_FIELD(rate_by, .help = "which fetches those were", .null_if_empty = true),
      SABATH_FIELD(walltime_left_s, .help = "until this process is ended", .unit = "seconds"),
      SABATH_FIELD(walltime_by, .help = "who says so", .null_if_empty = true),
      SABATH_FIELD(requests, .help = "that were made for sizes"),
      SABATH_FIELD(warnings, .help = "what may go wrong"),
      SABATH_FIELD(refusals, .help = "each reason not to begin; the first gives the exit code"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const PlanRecord& record) { return record_text(record); }

extern constexpr LibraryVerb plan_call = described<plan_assets>("plan");

}  // namespace sabath
