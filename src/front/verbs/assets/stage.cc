#include <nlohmann/json.hpp>

#include "fields/failure.h"
#include "sabath/session.h"
#include "sabath/verbs/stage.h"
#include "verbs/assets/stage_forecast_fields.h"
#include "verbs/assets/view_layout.h"

namespace sabath {

template <>
struct WordsOf<StageMode> {
  static constexpr std::string_view words = "replicate|shard";
  static std::string_view text(StageMode mode) { return mode == StageMode::shard ? "shard" : "replicate"; }
  static std::optional<StageMode> parse(std::string_view text) {
    return text == "shard" ? StageMode::shard : StageMode::replicate;
  }
};

template <>
struct Described<StageCall> {
  using Of = StageCall;
  static constexpr std::uint64_t number_max = 1'000'000;
  static constexpr Field table[] = {
      SABATH_FIELD(names, .help = "datasets, or models whose datasets are meant", .argument = "NAME"),
      SABATH_FIELD_AS("env", environments,
                      .help = "a packed environment; refused where a node cannot run it; again for more "
                              "(docs/environments.md)",
                      .value = "NAME"),
      SABATH_FIELD(to,
                   .help =
                       "the nodes' own directory; DIR,DIR: on several disks, used together; {node} and {rank} "
                       "are replaced by their numbers; again for others to try; auto: the first of the usual places",
                   .value = "DIR"),
      SABATH_FIELD(mode, .help = "all of it to every node, or the files dealt to them"),
      SABATH_FIELD(seed, .help = "shard: another dealing (default 0)", .value = "N"),
      SABATH_FIELD(overlap, .help = "shard: N nodes (ranks) get each file (default 1)", .maximum = number_max,
                   .value = "N"),
      SABATH_FIELD(per_rank, .help = "shard: dealt to the ranks; a node gets what its ranks do"),
      SABATH_FIELD(layout, .help = "as the asset has them (the default), or as a cache of Hugging Face's hub"),
      SABATH_FIELD_AS("repo", repository,
                      .help = "with --layout hf: what an asset is called that no hub gave; datasets/OWNER/NAME for a "
                              "dataset",
                      .value = "OWNER/NAME"),
      SABATH_FIELD(select, .help = "only this of the HDF5 files, e.g. 'full[:,:,:,0]'; again for more (docs/hdf5.md)",
                   .value = "SEL"),
      SABATH_FIELD(blocks, .help = "cut the first selection into files of this shape: 128,128,128,4", .value = "SHAPE"),
      SABATH_FIELD(filter, .help = "of the selections that are written", .words = "none|gzip|zstd|keep"),
      SABATH_FIELD_AS("readers", readers_max,
                      .help = "nodes that read from the shared store at once (default: at most 64)",
                      .maximum = number_max, .value = "N"),
      SABATH_FIELD(allow_partial, .help = "go on when up to N nodes fail (exit code 10)", .maximum = number_max,
                   .value = "N"),
      SABATH_FIELD(threads, .help = "readers, and writers, of each node, at most (default: by its cores)",
                   .maximum = 256, .value = "N"),
      SABATH_FIELD(no_fetch, .help = "content that is missing is an error, and not fetched"),
      SABATH_FIELD(bypass_shared,
                   .help = "what is missing in the shared store goes from the origin to the nodes and is not "
                           "kept in the shared store"),
      SABATH_FIELD(simulate,
                   .help = "predict for a machine described as nodes=9408,shared=500G,link=25G,... "
                           "(docs/simulation.md)",
                   .value = "MACHINE"),
  };
};

template <>
struct Described<FailedNode> {
  using Of = FailedNode;
  static constexpr Field table[] = {
      SABATH_FIELD(node, .help = "its number"),
      SABATH_FIELD(host, .help = "its name"),
      SABATH_FIELD_AS("kind", failure.kind, .help = "the kind, as docs/exit-codes.md has them"),
      SABATH_FIELD_AS("message", failure.message, .help = "one line"),
  };
};

template <>
struct Described<StagedAsset> {
  using Of = StagedAsset;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "of the recipe"),
      SABATH_FIELD(manifest, .help = "its root, or that of the selection", .null_if_empty = true),
      SABATH_FIELD(path, .help = "the view of rank 0; null: it has none", .null_if_empty = true),
      SABATH_FIELD(verified_by, .help = "sha256: each node hashed what it wrote"),
      SABATH_FIELD(mode, .help = "replicate or shard"),
      SABATH_FIELD(selection, .help = "the selections; none: the files as they are"),
      SABATH_FIELD(nodes, .help = "of the job"),
      SABATH_FIELD(ranks, .help = "of the job"),
      SABATH_FIELD(readers, .help = "nodes that read from the shared store"),
      SABATH_FIELD(files, .help = "of the asset, or of the selection", .unit = "files"),
      SABATH_FIELD(bytes, .help = "of the asset, or of the selection", .unit = "bytes"),
      SABATH_FIELD(bytes_from_shared, .help = "content read from the shared store, by all nodes", .unit = "bytes"),
      SABATH_FIELD(bytes_from_origin, .help = "payload that was fetched first, or by the nodes", .unit = "bytes"),
      SABATH_FIELD(bytes_from_peers, .help = "payload received from other nodes, by all nodes", .unit = "bytes"),
      SABATH_FIELD(bytes_present, .help = "what was there already, on all nodes together", .unit = "bytes"),
      SABATH_FIELD(seconds, .help = "wall time", .unit = "seconds"),
      SABATH_FIELD(phases, .help = "of the node of rank 0, by the name of the phase", .unit = "seconds"),
      SABATH_FIELD(stragglers, .help = "nodes that kept the others waiting"),
      SABATH_FIELD(failed_nodes, .help = "nodes that failed, and why"),
      SABATH_FIELD(activate, .help = "of an environment: the line for bash and zsh; absent: it is none",
                   .absent_if_empty = true),
      SABATH_FIELD(failure, .help = "of the whole, the same on all ranks; absent: there was none",
                   .absent_if_empty = true),
  };
};

template <>
struct Described<StageRecord> {
  using Of = StageRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(assets, .help = "in the order in which they were named"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

StageRequest StageCall::request() const {
  StageRequest request = *this;
  request.hub_layout = layout == ViewLayout::hub;
  return request;
}

StageRequest StageCall::simulated() const {
  StageRequest request = *this;
  request.names.insert(request.names.end(), environments.begin(), environments.end());
  return request;
}

std::string to_json(const StageRecord& record) { return record_text(record); }

std::string to_json(const StageForecastRecord& record) { return record_text(record); }

Json call_stage(Session& session, JsonObject& object, EventSink& events, std::stop_token stop) {
  const StageCall call = request_in<StageCall>(object);
  if (call.simulate)
    return record_json(forecast_stage(stage_model(session, *call.simulate, call.simulated(), stop), stop));
  if (call.names.empty() && call.environments.empty()) object.fail("names", "names nothing to stage");
  return record_json(session.stage(call.request(), events, std::move(stop)));
}

extern constexpr LibraryVerb stage_call = described<StageCall, StageRecord, StageForecastRecord>("stage", call_stage);

}  // namespace sabath
