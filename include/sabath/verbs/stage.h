// Staging: an asset brought to the stores of all nodes of a job. Plain values; Session::stage() does it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sabath/error.h"

namespace sabath {

enum class StageMode { replicate, shard };

struct StageRequest {
  std::vector<std::string> names;         // as for fetch: a model brings its default dataset
  std::vector<std::string> environments;  // packed ones, which each node must be able to run
  // Directories of the nodes, tried in order; "A,B": both together, ",,": a comma; {node}, {rank}: their numbers.
  // "auto" alone: the usual places of SessionSettings.
  std::vector<std::string> to;
  bool guessed = false;  // `to` holds usual places: one that another account may write is passed over
  StageMode mode = StageMode::replicate;
  std::uint64_t seed = 0;      // shard: of the dealing
  unsigned overlap = 1;        // shard: N nodes (ranks) get each file
  bool per_rank = false;       // shard: dealt to the ranks; a node gets what its ranks do
  unsigned readers_max = 64;   // nodes that read from the shared store at once
  unsigned allow_partial = 0;  // go on without N nodes
  unsigned threads = 0;        // of each node's readers and of its writers, at most; 0: chosen
  // Of the asset's HDF5 files, docs/hdf5.md; empty: the files as they are.
  std::vector<std::string> select;
  std::string blocks;          // "128,128,128,4": cut into files of this shape
  std::string filter;          // of what is written: "none" (also empty), "gzip", "zstd", "keep"
  bool no_fetch = false;       // what the shared store lacks is an error
  bool bypass_shared = false;  // it goes from the origin to the nodes, and nothing is kept in the shared store
  bool hub_layout = false;     // each node gets a cache of Hugging Face's hub: docs/huggingface.md
  std::string repository;      // with it: "[datasets/]OWNER/NAME" for an asset that no hub gave
};

struct FailedNode {
  unsigned node = 0;
  std::string host;
  Failure failure;
};

struct StagedAsset {
  std::string name, manifest, path;  // `path`: of the view, as rank 0's node has it
  std::string verified_by;
  std::string mode;
  std::vector<std::string> selection;  // `manifest` is then that of the selection
  unsigned nodes = 0, ranks = 0, readers = 0;
  std::uint64_t files = 0, bytes = 0;  // of the asset
  // Counted where they happened, of all nodes together. Payload only.
  std::uint64_t bytes_from_shared = 0, bytes_from_origin = 0, bytes_from_peers = 0, bytes_present = 0, bytes_sent = 0;
  double seconds = 0;
  std::map<std::string, double> phases;  // seconds of rank 0, by name
  std::vector<std::string> stragglers;   // nodes that kept the others waiting, for people
  std::vector<FailedNode> failed_nodes;
  std::string activate;            // of an environment: the line for a shell
  std::optional<Failure> failure;  // of the whole, the same on all ranks
};

struct StageRecord {
  std::vector<StagedAsset> assets;
  int exit = 0;
};
[[nodiscard]] std::string to_json(const StageRecord& record);

}  // namespace sabath
