// The library's front door: recipes, a store and the fetchers of this build, wired together.
//
// A Session never prints, never reads the environment, and has no global state. One thread uses a Session at a time;
// fetch() works with as many lanes as asked. Failures of one asset are in its record; Error is thrown only where
// the whole call fails (usage, no such recipe, no store).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/error.h"
#include "sabath/event.h"
#include "sabath/recipe.h"
#include "sabath/session_settings.h"
#include "sabath/stage.h"

namespace sabath {

// A part of an asset: docs/recipes.md, "A part of an asset".
struct Selection {
  std::optional<std::uint64_t> sample;  // the first N files of each archive and list, and of the single files
  std::vector<std::string> select;      // patterns of paths in the asset, "!PATTERN": not these; none: all
  [[nodiscard]] bool empty() const { return !sample && select.empty(); }
  friend bool operator==(const Selection&, const Selection&) = default;
};

struct FetchRequest {
  // Datasets or models, a model brings its default dataset; or URLs, as `datasets` may be: SABATH writes a recipe for
  // each, once something of it has come.
  std::vector<std::string> names;
  std::vector<std::string> models;  // models only, without a dataset unless one is named
  std::vector<std::string> datasets;
  std::string name;                      // of the recipe of the (single) URL; empty: the URL's own
  std::string manifest;                  // a file that pins the (single) asset; empty: as the recipe says
  std::vector<std::string> local_paths;  // local copies of fragments, in order; verified and copied into the store
  std::vector<std::string> local_links;  // the same, linked instead of copied
  Selection selection;                   // of every asset that has fragments; empty: all of it
  bool force = false;                    // do not believe what is there: fetch again
  bool refresh = false;                  // do not believe learnt roots: ask the source whether it changed
  bool keep_archives = false;            // the archive file itself is kept in the store as well
  bool view = true;                      // of an asset in packs, too: an inode for each of its files, if they are free
  bool dry_run = false;                  // say what would be done and touch nothing
  // This asset alone, by its name or its recipe's file.
  void add(AssetKind kind, const std::string& asset);
};

struct SourceRecord {
  std::string url;                                      // without query
  std::uint64_t bytes = 0, requests = 0, failures = 0;  // counted where they happened
  bool demoted = false;
  std::string reason;            // the last failure
  bool believed = false;         // content that nothing proves is what it gave
  std::optional<Reach> reach{};  // of the farthest host that was asked, on this rank; nullopt: not known
};

struct FileFailure {
  std::string path;  // in the asset, or the fragment's id
  Failure failure;
};

struct ResolvedSource {  // a URL that stood for many files
  std::string url;
  std::string version;  // what it stood for: a commit, a digest; empty: its source has none
};

struct AssetRecord {
  std::string name;
  AssetKind kind = AssetKind::dataset;
  std::string manifest;                         // "sha256:<hex>", empty if it is not known
  std::string path;                             // of the view, empty if there is none
  std::string trusted_by;                       // how the root came to be trusted
  Selection selection;                          // not empty: the root and the view hold this part only
  bool packed = false;                          // its files stand in packs, and there is no view
  std::uint64_t view_inodes = 0;                // that its view would take then
  std::uint64_t files = 0, bytes = 0;           // in the view
  std::uint64_t fetched_bytes = 0;              // payload on the wire
  ReusedBytes reused{};                         // not moved again
  std::optional<std::uint64_t> to_fetch_bytes;  // dry run: what would be moved, if known
  double seconds = 0;
  std::vector<SourceRecord> sources;
  std::vector<ResolvedSource> resolved;
  std::vector<FileFailure> failures;
  [[nodiscard]] std::uint64_t reused_bytes() const {
    return std::accumulate(reused.begin(), reused.end(), std::uint64_t{0});
  }
};

struct FetchRecord {
  std::vector<AssetRecord> assets;
  int exit = 0;
};
[[nodiscard]] std::string to_json(const FetchRecord& record);

class Comm;
struct PlanRequest;  // sabath/plan.h
struct PlanRecord;

class Session {
 public:
  // `ranks`: the job that this process is a rank of; then fetch() is collective, into one store of all ranks.
  explicit Session(SessionSettings settings, Comm* ranks = nullptr);
  ~Session();
  // Fetches, verifies, publishes and makes the views. SIGINT and the like are the caller's: it requests stop.
  // With ranks: the record of rank 0 has the assets, every record the same exit code, and any rank's stop is for all.
  FetchRecord fetch(const FetchRequest& request, EventSink& events, std::stop_token stop);
  // Says what fetch() would do, and whether it fits. Moves no content, and changes nothing. One process.
  [[nodiscard]] PlanRecord plan(const PlanRequest& request, EventSink& events, std::stop_token stop);
  // Brings datasets (a model's name: its dataset) to all nodes of the job, through the store, which is filled first if
  // it lacks something. Collective; without ranks: to this node.
  StageRecord stage(const StageRequest& request, EventSink& events, std::stop_token stop);
  // Where a fetched asset stands; Error{offline} if it is not (wholly) present, Error{not_found} without a recipe.
  [[nodiscard]] std::filesystem::path path(const std::string& name);

  [[nodiscard]] const SessionSettings& settings() const noexcept;
  [[nodiscard]] Comm* ranks() const noexcept;  // nullptr: one process

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath
