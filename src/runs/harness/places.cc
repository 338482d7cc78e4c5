#include "harness/places.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>
#include <random>

#include "base/file.h"
#include "base/hash.h"
#include "base/wording.h"
#include "base/working_directory.h"
#include "run/run_asset.h"
#include "run/run_directory.h"
#include "sabath/error.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// A digest of everything that tells this sweep from another one.
std::string sweep_id(const RunCall& call, const ResolvedRun& run) {
  std::string text = digest_of_file(run.model.origin) + call.request.mode + run.container_image;
  text += fmt::format("/{}/{}/{}", run.ranks, run.nodes, run.launcher);
  for (const std::string& argument : call.request.arguments) text += fmt::format("/{}:{}", argument.size(), argument);
  // What older sweeps had none of: their names stay.
  if (!call.request.from.empty()) text += "/from:" + call.request.from;
  if (run.lock) text += "/lock:" + run.lock->digest;
  if (run.by_ort) text += fmt::format("/ort:{}", fmt::join(call.request.inputs, "/"));
  for (const Variant& variant : run.variants) {
    for (const auto& [key, value] : variant.config) text += fmt::format("/{}={}:{}", key, value.size(), value);
  }
  return sha256(text).hex().substr(0, 10);
}

}  // namespace

fs::path place_of(const RunCall& call, const ResolvedRun& run) {
  if (!call.request.directory.empty()) return absolute_path(call.request.directory);
  std::string what = fmt::format("{}_{}", run.model.name, run.dataset ? run.dataset->name : "none");
  std::ranges::replace(what, '/', '+');  // of subscribed catalogues
  if (run.is_sweep()) return absolute_path(fmt::format("sweep_{}_{}", what, sweep_id(call, run)));
  return absolute_path(fmt::format("run_{}_{}", what, new_run_id()));
}

bool done_before(const fs::path& directory) {
  if (!try_lstat(directory)) return false;
  if (try_run_state(directory) == "finished") return true;
  for (int i = 1; i < 10000; ++i) {
    const fs::path aside = fmt::format("{}.unfinished-{}", directory.string(), i);
    if (try_lstat(aside)) continue;
    rename_path(directory, aside);
    return false;
  }
  throw Error(FailureKind::usage, fmt::format("{} has too many unfinished runs beside it", directory.string()),
              "remove some, or name another directory with " + option_text("run_dir"));
}

}  // namespace sabath
