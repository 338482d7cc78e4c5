#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "base/counted.h"
#include "base/text.h"
#include "cli/described.h"
#include "cli/show/hub_exports.h"
#include "cli/show/render.h"
#include "cli/verbs.h"
#include "comm/emulated_nodes.h"
#include "comm/solo_comm.h"
#include "machine/walltime.h"
#include "report/text_table.h"
#include "sabath/session.h"
#include "stage/simulation/measured_sites.h"
#include "verbs/assets/stage_forecast.h"

namespace sabath::cli {
namespace {
namespace cmd_stage {

struct Options {
  StageCall request;
  std::optional<std::uint64_t> emulated;
  std::optional<std::string> deadline;
  bool alone = false;  // seen before the line is parsed: cli/ranks.h
};

std::string summary(const StagedAsset& asset) {
  const std::uint64_t moved = asset.bytes_from_shared + asset.bytes_from_peers;
  const std::string how =
      moved == 0 ? "nothing moved"
                 : fmt::format("{} read from the shared store, {} between nodes", format_bytes(asset.bytes_from_shared),
                               format_bytes(asset.bytes_from_peers));
  return fmt::format("{}: {} in {} on {}, {}, in {}, verified", asset.name, format_bytes(asset.bytes),
                     counted(asset.files, "file"), counted(asset.nodes, "node"), how, format_duration(asset.seconds));
}

void tell(Context& context, const StagedAsset& asset) {
  if (!asset.failure) return context.say(summary(asset));
  const std::string text = render_failure(*asset.failure, context.presentation.verbose, context.presentation.color);
  std::fwrite(text.data(), 1, text.size(), stderr);
  constexpr std::size_t shown = 10;
  for (std::size_t i = 0; i < asset.failed_nodes.size() && i < shown; ++i) {
    const FailedNode& node = asset.failed_nodes[i];
    context.say(fmt::format("  node {} ({}): {}", node.node, node.host, node.failure.message));
  }
}

std::string number_text(double value) {
  return value < 1 ? fmt::format("{:.3f}", value) : fmt::format(fmt::runtime(value < 10 ? "{:.2f}" : "{:.1f}"), value);
}

std::string curve_text(const std::vector<StageForecast>& curve, std::uint64_t bytes) {
  TextTable table(0);
  table.add({"nodes", "readers", "seconds", "GB/s", "GB/s delivered", "from shared", "between nodes"});
  bool extrapolated = false;
  for (const StageForecast& one : curve) {
    const StageRates rates = rates_of(one, bytes);
    const bool part = one.pieces_simulated < one.pieces;
    extrapolated = extrapolated || part;
    table.add({fmt::format("{}", one.nodes), fmt::format("{}", one.readers),
               (part ? "~" : "") + number_text(one.seconds), number_text(rates.asset / 1e9),
               number_text(rates.delivered / 1e9), format_bytes(one.bytes_from_shared),
               format_bytes(one.bytes_from_peers)});
  }
  std::string text = table.text();
  if (extrapolated) {
    text += fmt::format("~ from a shorter row of pieces, down to {} of {}\n", curve.back().pieces_simulated,
                        curve.back().pieces);
  }
  return text;
}

std::string measured_text() {
  TextTable table(3);
  table.add({"round", "system", "how", "nodes", "seconds", "min", "max", "GB/s"});
  for (const MeasuredStaging& one : measured_stagings()) {
    const auto known = [](double value) { return value > 0 ? number_text(value) : std::string("-"); };
    table.add({std::string(one.round), std::string(one.system), std::string(one.method), fmt::format("{}", one.nodes),
               number_text(one.seconds_median), known(one.seconds_min), known(one.seconds_max), known(one.gb_per_s)});
  }
  return fmt::format("\nmeasured, CosmoFlow; most deal the files, so that a node gets its share only\n{}source: {}\n",
                     table.text(), measured_source);
}

int simulate(Context& context, const StageCall& request) {
  Session session(context.configuration.session);
  const StageModel model = stage_model(session, *request.simulate, request.simulated(), context.stop);
  if (!context.speaks()) return 0;
  const StageForecastRecord record = forecast_stage(model, context.stop);
  if (context.presentation.json) {
    context.out.record_text(to_json(record));
  } else {
    context.out.print(fmt::format("{} in {} {} to every node, predicted\n{}{}", format_bytes(model.bytes), model.files,
                                  model.files == 1 ? "file" : "files", curve_text(record.curve, model.bytes),
                                  measured_text()));
  }
  return 0;
}

int run(Context& context, const Options& options) {
  if (options.request.simulate) return simulate(context, options.request);
  if (options.request.names.empty() && options.request.environments.empty()) {
    throw Error(FailureKind::usage, "sabath stage: NAME is required", "see: sabath stage --help");
  }
  const auto solo = make_solo_comm();
  Comm* comm = context.ranks != nullptr ? context.ranks : solo.get();
  std::unique_ptr<Comm> emulated;
  if (options.emulated) {
    emulated = emulate_nodes(*comm, static_cast<unsigned>(*options.emulated));
    comm = emulated.get();
  }
  StageRecord record;
  {
    const auto progress = context.make_progress();
    SessionSettings settings = context.configuration.session;
    if (options.deadline) settings.deadline = deadline_of(context.environment, options.deadline);
    Session session(settings, comm);
    record = session.stage(options.request.request(), *progress, context.stop);
  }
  record.exit = context.signals.code_after(record.exit);
  if (!context.speaks()) return record.exit;
  for (const StagedAsset& asset : record.assets) {
    tell(context, asset);
    if (context.presentation.json || asset.path.empty()) continue;
    if (!asset.activate.empty()) {
      context.out.print(asset.activate + "\n");
      continue;
    }
    context.out.print((options.request.layout == ViewLayout::hub ? hub_exports(asset.path) : asset.path) + "\n");
  }
  if (context.presentation.json) context.out.record_text(to_json(record));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  declare_fields(set, options->request);
  set.option(
      "--deadline", "TIME", options->deadline,
      "when this process will be ended: 2h30m, 01:30:00, 2026-11-21T18:00, or none (default: as the batch system "
      "says)");
  set.count("--emulate-nodes", "N", 1'000'000, options->emulated, "pretend that the ranks are on N nodes, for a trial");
  set.flag("--alone", options->alone, "under mpirun: this process by itself, not one of the ranks");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_stage
}  // namespace

constexpr Verb stage_verb{
    .name = "stage",
    .summary = "bring a dataset to the disks of all nodes of a job",
    .examples =
        "mpirun sabath stage cosmoflow --to /local/$USER      one rank a node, or as many as the job has\n"
        "srun --mpi=pmix sabath stage cosmoflow --to auto     the place is found by itself\n"
        "mpirun sabath stage cosmoflow --to auto --mode shard\n"
        "mpirun sabath stage cosmoflow --env numbers --to auto   its environment, too: the last line activates it\n"
        "mpirun sabath stage cosmo --to auto --select 'full[:,:,:,0]'   one redshift of each universe\n"
        "mpirun -n 4 sabath stage cosmoflow --emulate-nodes 4 --to '/tmp/try/{node}'   on one machine\n"
        "sabath stage --simulate nodes=9408,shared=500G,link=25G,size=5.1T   what another would take",
    .details =
        "Each node gets DIR/NAME, a view of its own store in DIR/.sabath. With --to A,B, A has the view, and files lie "
        "on "
        "both disks, whole ones on each. What a node has already is not moved again; what "
        "any node has comes from that node; the rest is read from the store once for the whole job, and fetched first "
        "if "
        "it is not there. Every byte is checked against the manifest on every node before the view appears. "
        "Exit codes: docs/exit-codes.md.",
    .keeps_state = true,
    .declare = cmd_stage::declare,
    .by_ranks = true,
};

}  // namespace sabath::cli
