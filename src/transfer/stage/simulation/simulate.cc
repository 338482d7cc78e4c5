#include "stage/simulation/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <numeric>
#include <set>
#include <system_error>
#include <thread>

#include "base/wording.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::uint64_t pieces_min = 256;  // a shorter row says nothing of a long one
constexpr std::uint64_t pieces_max = std::uint64_t{1} << 16U, files_laid_max = std::uint64_t{1} << 20U;  // for memory

// Pieces of the model's asset: chunks of large files, or runs of small ones.
struct Row {
  std::uint64_t files_each = 0;  // of a piece of small files; 0: large files
  std::uint64_t pieces = 0;
};

Row row_of(const StageModel& model) {
  const std::uint64_t mean = std::max<std::uint64_t>(1, model.bytes / model.files);
  if (mean > chunk_size_bytes) return {0, model.files * chunk_count(mean)};
  const std::uint64_t each = std::min<std::uint64_t>(Tape::files_max, chunk_size_bytes / mean);
  return {each, (model.files + each - 1) / each};
}

// `bytes` in `files` of one size, but for the first ones' odd byte.
Tape tape_of(std::uint64_t bytes, std::uint64_t files) {
  std::vector<StagedFile> all(files);
  for (std::uint64_t i = 0; i < files; ++i) all[i].digest.size_bytes = bytes / files + (i < bytes % files ? 1 : 0);
  return Tape(std::move(all));
}

std::uint64_t part_of(std::uint64_t whole, double share) {
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(whole) * share));
}

struct Run {
  std::uint64_t bytes = 0, pieces = 0;
  unsigned readers = 0;
  ExchangeForecast forecast;
};

// The asset shortened to about `share` of it: fewer files, or fewer chunks of them.
Run run_of(const StageModel& model, unsigned readers_max, const ExchangeRules& rules, double share) {
  const std::uint64_t files = std::max<std::uint64_t>(1, part_of(model.files, share));
  const std::uint64_t bytes = share < 1 ? std::max<std::uint64_t>(1, part_of(model.bytes, share)) : model.bytes;
  const Tape tape = tape_of(bytes, files);
  const std::size_t pieces = tape.pieces().size();
  std::vector<unsigned> able(model.nodes);
  std::iota(able.begin(), able.end(), 0U);
  PieceSet every(pieces);
  for (std::size_t p = 0; p < pieces; ++p) every.add(p);
  std::vector<std::uint32_t> giver(pieces, Plan::nobody);
  assign_readers(giver, tape, every, model.planner.choose(able, readers_max), {});
  std::vector<Plan> plans;
  for (unsigned me = 0; me < model.nodes; ++me) {
    plans.emplace_back(Plan::Given{model.nodes, me, {}, PieceSet(pieces), every, every, giver, {}});
  }
  SimulatedExchange exchange{
      .plans = plans, .tape = tape, .cluster = model.cluster, .threads = model.threads, .rules = rules};
  if (model.planner.hops) exchange.hops = model.planner.hops;
  const std::set<std::uint32_t> readers(giver.begin(), giver.end());
  return {bytes, pieces, static_cast<unsigned>(readers.size()), simulate_exchange(exchange)};
}

std::uint64_t scaled(std::uint64_t count, std::uint64_t whole, std::uint64_t part) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{count} * whole + part / 2) / part);
}

// The least seconds that a byte takes in the long run; what was measured on a short row may be below that.
double pace_min(const StageModel& model, unsigned readers) {
  const ClusterModel& cluster = model.cluster;
  const double link = model.nodes > readers ? 1 / cluster.link_in_rate : 0;  // some node receives everything
  return std::max({1 / cluster.shared_rate, 1 / cluster.disk_rate, link});
}

}  // namespace

void check_stage_model(const StageModel& model) {
  const auto refuse = [](const std::string& what, const std::string& instead) {
    throw Error(FailureKind::usage, "cannot simulate " + what, instead);
  };
  if (model.nodes < 1 || model.nodes > StageModel::nodes_max) {
    refuse(fmt::format("{} nodes", model.nodes), fmt::format("give a number from 1 to {}", StageModel::nodes_max));
  }
  if (model.bytes < 1 || model.files < 1 || model.files > model.bytes) {
    refuse(fmt::format("{} bytes in {} files", model.bytes, model.files), "give at least a file, and a byte for each");
  }
  if (model.bytes > UINT64_MAX / model.nodes) {
    refuse(fmt::format("{} bytes on {} nodes", model.bytes, model.nodes),
           "give less: all together must be below 18 EB");
  }
  if (model.readers_max < 1 || model.threads.readers < 1 || model.threads.writers < 1) {
    refuse("staging without readers or writers",
           fmt::format("give {} and {} of at least 1", option_text("readers"), option_text("threads")));
  }
}

// A long row of pieces is not simulated whole: two shorter ones are, one half as long as the other. Their difference in
// time gives the pace once everything flows; the rest of the asset goes on at that pace. Times to fill and to empty the
// trees are counted once.
StageForecast simulate_stage(const StageModel& model) {
  check_stage_model(model);
  const Row row = row_of(model);
  std::uint64_t most = std::clamp(model.deliveries_max / model.nodes, pieces_min, pieces_max);
  if (row.files_each > 0) most = std::max(pieces_min, std::min(most, files_laid_max / row.files_each));
  const std::uint64_t small_files = model.bytes / model.files <= chunk_size_bytes ? model.files : 0;
  const unsigned readers = readers_for(row.pieces, small_files, model.readers_max);
  const ExchangeRules rules = ExchangeRules::for_pieces(row.pieces);
  StageForecast forecast{.nodes = model.nodes, .pieces = row.pieces};
  if (row.pieces <= most) {
    const Run run = run_of(model, readers, rules, 1);
    forecast.readers = run.readers;
    forecast.seconds = run.forecast.seconds;
    forecast.bytes_from_shared = run.forecast.shared_bytes;
    forecast.bytes_from_peers = run.forecast.peer_bytes;
    forecast.pieces = forecast.pieces_simulated = run.pieces;
    return forecast;
  }
  const double share = static_cast<double>(most) / static_cast<double>(row.pieces);
  const Run whole = run_of(model, readers, rules, share), half = run_of(model, readers, rules, share / 2);
  const double measured =
      (whole.forecast.seconds - half.forecast.seconds) / static_cast<double>(whole.bytes - half.bytes);
  const double pace = std::max(measured, pace_min(model, whole.readers));
  forecast.readers = whole.readers;
  forecast.seconds = whole.forecast.seconds + pace * static_cast<double>(model.bytes - whole.bytes);
  forecast.bytes_from_shared = scaled(whole.forecast.shared_bytes, model.bytes, whole.bytes);
  forecast.bytes_from_peers = scaled(whole.forecast.peer_bytes, model.bytes, whole.bytes);
  forecast.pieces_simulated = whole.pieces;
  return forecast;
}

std::vector<unsigned> nodes_of_curve(unsigned nodes_max) {
  std::vector<unsigned> all;
  for (unsigned nodes = 1; nodes < nodes_max; nodes *= 2) all.push_back(nodes);
  all.push_back(nodes_max);
  return all;
}

std::vector<StageForecast> simulate_curve(const StageModel& model, const std::stop_token& stop) {
  const auto nodes = nodes_of_curve(model.nodes);
  std::vector<StageForecast> curve(nodes.size());
  std::atomic<std::ptrdiff_t> left = std::ssize(nodes);
  const auto simulate_some = [&] {  // the longest first
    for (std::ptrdiff_t i = --left; i >= 0 && !stop.stop_requested(); i = --left) {
      StageModel one = model;
      one.nodes = nodes[i];
      curve[i] = simulate_stage(one);
    }
  };
  std::vector<std::future<void>> others;
  try {
    for (std::size_t i = 1; i < std::min<std::size_t>(nodes.size(), std::thread::hardware_concurrency()); ++i) {
      others.push_back(std::async(std::launch::async, simulate_some));
    }
  } catch (const std::system_error&) {}  // no more threads are granted
  simulate_some();
  for (auto& other : others) other.get();
  if (stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
  return curve;
}

}  // namespace sabath
