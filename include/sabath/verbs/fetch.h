// What a fetch is asked for, and its record: plain values of Session::fetch().
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "sabath/asset_kind.h"
#include "sabath/error.h"
#include "sabath/event.h"
#include "sabath/url.h"

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

}  // namespace sabath
