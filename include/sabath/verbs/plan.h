// The work that a fetch would do, and whether it fits: before a byte of content moves. Plain values, made by
// Session::plan(). docs/planning.md says what each of them means.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sabath/asset_kind.h"
#include "sabath/error.h"
#include "sabath/verbs/fetch.h"

namespace sabath {

struct PlanRequest {
  FetchRequest fetch;          // what of it says what is wanted
  std::string to;              // also to this directory of this node, by `stage`; empty: the store only
  unsigned requests_max = 64;  // at most 10,000; for sizes that no recipe or manifest states; 0: none
};

struct FilesAndBytes {
  std::uint64_t files = 0, bytes = 0;
};

struct PlannedSource {
  std::string fragment;                     // whose mirror it is; empty: the asset's git source
  std::string url;                          // without query
  bool readable = true;                     // a fetcher of this build knows its scheme
  std::optional<std::uint64_t> size_bytes;  // as it says, where it was asked
  std::string expires_by;                   // what ends; empty: nothing that is known
  std::optional<std::int64_t> expires_in_s;
  std::string problem;  // why it could not be asked
};

struct PlannedAsset {
  std::string name;
  AssetKind kind = AssetKind::dataset;
  std::string manifest;                 // "sha256:<hex>", empty if it is not known
  Selection selection;                  // not empty: of this part
  FilesAndBytes all;                    // of the asset, as far as that is known
  FilesAndBytes by_source;              // here, and known to be what the source gave or the pin names
  FilesAndBytes by_content;             // here, from another source: known by a published checksum
  std::uint64_t by_chunk_bytes = 0;     // of files to fetch: chunks that other objects hold
  std::uint64_t in_partials_bytes = 0;  // of files to fetch: arrived in earlier tries
  FilesAndBytes to_fetch;               // what would move, as far as sizes are known
  std::uint64_t files_without_size = 0;
  std::uint64_t lists = 0;                          // of these: they name more files, whose sizes are not known yet
  std::uint64_t archives = 0;                       // of these: what comes out of them is not known yet
  std::uint64_t store_bytes = 0, store_inodes = 0;  // what the disk must take
  std::uint64_t biggest_bytes = 0;
  std::string biggest_path;
  std::vector<PlannedSource> sources;
  std::vector<std::string> steps;  // what a person must do first
  std::optional<Failure> refused;  // it cannot be fetched, even with enough room

  // Of `to_fetch`, what comes from the sources: a part may be here in other objects, or have arrived earlier.
  [[nodiscard]] std::uint64_t bytes_to_move() const {
    const std::uint64_t here = in_partials_bytes + by_chunk_bytes;
    return to_fetch.bytes > here ? to_fetch.bytes - here : 0;
  }
  [[nodiscard]] bool sizes_known() const { return files_without_size == 0 && lists == 0; }
};

// One bound against which the whole is held.
struct PlannedLimit {
  std::string what;             // "bytes", "inodes", "user quota, bytes", "file size", "memory", "walltime"
  std::string by;               // who says so: a directory, "cgroup", "ulimit -f", "SLURM_JOB_END_TIME"
  std::uint64_t needed = 0;     // bytes, inodes, or seconds
  std::uint64_t available = 0;  // less what others reserved
  std::uint64_t reserved = 0;   // by others
  std::optional<bool> fits;     // nullopt: not all that it needs is known, and what is known fits
};

struct PlanRecord {
  std::vector<PlannedAsset> assets;
  std::string store;
  std::vector<PlannedLimit> limits;  // of the store, then of `to`
  std::vector<std::string> unknown;  // limits that could not be asked, and why
  std::vector<std::string> warnings;
  std::uint64_t requests = 0;  // that were made for sizes
  std::uint64_t bytes_to_fetch = 0, store_bytes = 0, store_inodes = 0;
  bool sizes_known = true;
  std::optional<double> bytes_per_second, seconds;  // by earlier fetches from the same places
  std::string rate_by;                              // which those were
  std::optional<std::int64_t> walltime_left_s;
  std::string walltime_by;
  std::optional<bool> fits;       // as of each limit, of all together
  std::vector<Failure> refusals;  // each reason why it would not be begun; the first gives the exit code
  int exit = 0;
};
[[nodiscard]] std::string to_json(const PlanRecord& record);

}  // namespace sabath
