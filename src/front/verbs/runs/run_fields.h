// The two records of `run` as tables: what was run, and what would be.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fields/fields.h"
#include "sabath/verbs/run.h"

namespace sabath {

template <>
struct Described<RunResult> {
  using Of = RunResult;
  static bool was_done(const void* result) { return static_cast<const RunResult*>(result)->done_before; }
  static bool was_run(const void* result) { return !was_done(result); }
  static constexpr Field table[] = {
      SABATH_FIELD(path, .help = "the run's directory"),
      SABATH_FIELD(state, .help = "finished, failed or interrupted"),
      SABATH_FIELD(exit, .help = "of the last program that was started"),
      SABATH_FIELD(done_before, .help = "a sweep that goes on: nothing was launched", .only_if = was_done),
      SABATH_FIELD(signal, .help = "that ended it", .only_if = was_run),
      SABATH_FIELD(config, .help = "the settings of the recipe", .only_if = was_run),
      SABATH_FIELD(seconds, .help = "that the programs took", .unit = "seconds", .only_if = was_run),
  };
};

template <>
struct Described<RunsRecord> {
  using Of = RunsRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(path, .help = "of the run, or of all runs of a sweep"),
      SABATH_FIELD(runs, .help = "one, or those of the sweep"),
      SABATH_FIELD(exit, .help = "the exit code: of the first run that failed"),
  };
};

template <>
struct Described<ForeseenStep> {
  using Of = ForeseenStep;
  static constexpr Field table[] = {
      SABATH_FIELD(argv, .help = "the program and its arguments"),
      SABATH_FIELD(ranks, .help = "how many of it"),
  };
};

template <>
struct Described<ForeseenCheck> {
  using Of = ForeseenCheck;
  static bool is_own(const void* check) { return !static_cast<const ForeseenCheck*>(check)->argv.empty(); }
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "as the recipe calls it"),
      SABATH_FIELD(expected, .help = "what it wants; null: that it is there", .null_if_empty = true),
      SABATH_FIELD(argv, .help = "the program and its arguments; absent: it is built in", .only_if = is_own),
  };
};

struct ForeseenLoads {  // code in an asset's files
  std::string by;
  std::vector<std::string> found;
};

template <>
struct Described<ForeseenLoads> {
  using Of = ForeseenLoads;
  static constexpr Field table[] = {
      SABATH_FIELD(by, .help = "why it may be read all the same; null: it is not trusted", .null_if_empty = true),
      SABATH_FIELD(found, .help = "what it is, as far as it is here"),
  };
};

template <>
struct Described<ForeseenAsset> {
  using Of = ForeseenAsset;
  static std::optional<ForeseenLoads> loads_of(const ForeseenAsset& asset) {
    return asset.code.empty() ? std::nullopt : std::optional(ForeseenLoads{asset.read_by, asset.code});
  }
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "what is read"),
      SABATH_FIELD(path, .help = "where it is; NOT-FETCHED:NAME where it would be fetched"),
      SABATH_FIELD(present, .help = "all of it is here"),
      SABATH_VALUE("loads", loads_of, .help = "code in its files", .absent_if_empty = true),
  };
};

template <>
struct Described<ForeseenRun> {
  using Of = ForeseenRun;
  static constexpr Field table[] = {
      SABATH_FIELD(directory, .help = "where its record would be"),
      SABATH_FIELD(source, .help = "its copy of the code; null: the model has none", .null_if_empty = true),
      SABATH_FIELD(checks, .help = "what would be asked of the machine first", .absent_if_empty = true),
      SABATH_FIELD(steps, .help = "what would be launched"),
      SABATH_FIELD(config, .help = "the settings of the recipe"),
      SABATH_FIELD(modules, .help = "that would be loaded"),
      SABATH_FIELD(variables, .help = "of the environment, that differ from the caller's"),
      SABATH_FIELD(assets, .help = "what it would read"),
  };
};

template <>
struct Described<ForeseenTrust> {
  using Of = ForeseenTrust;
  static constexpr Field table[] = {
      SABATH_FIELD(by, .help = "why the code may run, as in run.json; null: it is not trusted", .null_if_empty = true),
      SABATH_FIELD(origin, .help = "where the code comes from", .null_if_empty = true),
      SABATH_FIELD(commit, .help = "which code; null: not known before the fetch", .null_if_empty = true),
      SABATH_FIELD(digest, .help = "of the commands and all that changes what they do", .null_if_empty = true),
      SABATH_FIELD(starts, .help = "all that the recipe can start"),
  };
};

template <>
struct Described<RunForecast> {
  using Of = RunForecast;
  static bool is_dry(const RunForecast&) { return true; }
  static constexpr Field table[] = {
      SABATH_VALUE("dry_run", is_dry, .help = "true: nothing was fetched, made or launched"),
      SABATH_FIELD(to_fetch, .help = "assets that are not here"),
      SABATH_FIELD(trust, .help = "whether the code may run"),
      SABATH_FIELD(runs, .help = "one, or those of the sweep"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

}  // namespace sabath
