// Runs a model or workflow on verified bytes, and keeps a record of each run: a directory, docs/runs.md. Data that
// the store lacks is fetched first. Output and measurements come as events (RunStarted ... RunEnded).
//
// One process: a session of several ranks is refused. One thread calls; the programs run in the meantime. A stop
// request is passed on to the programs as a signal, and they get `grace`; the record of the run is closed in any case.
// Throws Error{usage}, Error{not_found}, Error{invalid} for what was asked; Error{content}, Error{offline} and what a
// fetch throws where the bytes are not right or not here; Error{access} for code that is not trusted; Error{command} if
// a program cannot be started or the environment lacks what it must have; Error{storage}, Error{space}. A program that
// fails is no Error: see `exit`.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "sabath/environment.h"
#include "sabath/event.h"

namespace sabath {

class Session;

struct RunRequest {
  std::string model;                    // a model or workflow
  std::string dataset;                  // or the key of a run set; empty: the recipe's
  std::string run_set;                  // the run set with this key; empty: the dataset's
  std::vector<std::string> settings;    // "KEY=VALUE" of the recipe; "KEY=A,B": one run for each value
  std::filesystem::path settings_file;  // settings in JSON or YAML; `settings` win
  std::vector<std::string> arguments;   // more of them, for the recipe's last step
  std::string mode = "train";           // or "infer": which run sets of the recipe
  // "ort": instead of the recipe's steps, the model's ONNX graph in ONNX Runtime. `model` may then be NAME:PATH, and
  // the dataset may be none. Settings: batch, threads, optimise.
  std::string engine;
  std::vector<std::string> inputs;     // of that: "[NAME=]FILE", in the dataset if one is named
  std::string from;                    // an asset that the program starts from: SABATH_FROM, {from.path}
  std::filesystem::path directory;     // where the record is made; empty: run_MODEL_DATASET_ID in the working directory
  std::filesystem::path stage;         // where the dataset was staged; empty: what SABATH_STAGE says, else the store
  std::filesystem::path stage_record;  // the record of that staging, as JSON: its time belongs to the run's record
  // Modules and packages: "none" ignores them, "check" refuses, "create" makes them. Or the name of a packed
  // environment, which is then `packed`.
  std::string requirements = "warn";
  std::string packed;  // the environment in which the programs are started: docs/environments.md
  // What the recipe asks of the machine first: "refuse" launches nothing if it is not met, "warn" goes on, "none" does
  // not ask.
  std::string checks = "refuse";
  std::string launcher = "auto";  // of parallel steps: "direct", "mpirun", "srun", or one of the site profile
  std::string container;          // "KIND:IMAGE"; empty: none
  std::string site;               // the site profile; empty: what SABATH_SITE says, else by the host's name
  // Another run, or its run.json: the modules that it loaded, in the same versions, instead of those that the recipe's
  // needs would choose. Error{not_found} if this site does not have them.
  std::filesystem::path lock;
  std::string verify = "changed";  // before the launch: "changed" since it was hashed, "full", or "none"
  bool no_fetch = false;           // run only on what is here
  bool again = false;  // `directory` may hold this run: a finished one is not done anew, another one is moved aside
  // Code that is not trusted yet (docs/trust.md): "once", "commit" or "origin" trusts it, and keeps the last two;
  // empty: `ask` is asked with what would run, and answers with such a word, or with "" for no. Empty as well: it is
  // refused.
  std::string trust;
  std::function<std::string(const std::string& about)> ask;
  std::optional<std::uint64_t> ranks, nodes;  // of parallel steps; at least 1, at most 2^20
  std::chrono::seconds grace{10};             // between the passed-on signal and SIGKILL; at most a day
  Environment environment;                    // what the programs start from; PATH and HOME find what is needed
  std::function<int()> stop_signal;           // asked at a stop request: SIGINT, SIGTERM or SIGHUP; none: SIGTERM
};

struct RunResult {
  std::filesystem::path path;  // of the run's directory
  std::string state;           // "finished", "failed", "interrupted"
  std::optional<int> exit;     // of the last program that was started
  std::optional<int> signal;   // that ended it
  std::map<std::string, std::string> config;
  std::optional<double> seconds;  // that the programs took
  bool done_before = false;       // a sweep that goes on: nothing was launched
};

struct RunsRecord {
  std::filesystem::path path;  // of the run, or of all runs of a sweep
  std::vector<RunResult> runs;
  int exit = 0;
};

RunsRecord run(Session& session, const RunRequest& request, EventSink& events, std::stop_token stop = {});
[[nodiscard]] std::string to_json(const RunsRecord& record);

// A run as it would be. Nothing is fetched, made or launched.
struct ForeseenStep {
  std::vector<std::string> argv;
  int ranks = 1;
};

struct ForeseenAsset {
  std::string name, path;  // "NOT-FETCHED:NAME" where it would be fetched
  bool present = false;
  std::vector<std::string> code;  // in its files, as far as they are here: docs/trust.md
  std::string read_by;            // why they may be read all the same; empty: that is not trusted
};

// A check of the recipe, which would come before the steps.
struct ForeseenCheck {
  std::string name, expected;
  std::vector<std::string> argv;  // as it would be launched; empty: it is built in
};

struct ForeseenRun {
  std::filesystem::path directory;
  std::filesystem::path source;  // where its copy of the code is; empty: the model has no code
  std::vector<ForeseenCheck> checks;
  std::vector<ForeseenStep> steps;
  std::map<std::string, std::string> config;
  std::vector<std::string> modules;
  std::vector<std::pair<std::string, std::string>> variables;  // that differ from the caller's
  std::vector<ForeseenAsset> assets;
};

// Whether the code may run. Where it may not, run() asks, or throws Error{access}.
struct ForeseenTrust {
  std::string by;                      // as in run.json; empty: it is not trusted
  std::string origin, commit, digest;  // empty: there is none, or it is not known before the fetch
  std::string about;                   // recipe, origin, commit and commands as lines for people
  std::vector<std::string> starts;     // all that the recipe can start
};

struct RunForecast {
  std::vector<std::string> to_fetch;
  ForeseenTrust trust;
  std::filesystem::path code;  // the code of the model; empty: it has none
  bool copies_code = false;    // into `source` of each run's directory
  std::vector<ForeseenRun> runs;
  int exit = 0;
};

[[nodiscard]] RunForecast foresee(Session& session, const RunRequest& request, EventSink& events,
                                  std::stop_token stop = {});
[[nodiscard]] std::string to_json(const RunForecast& record);

}  // namespace sabath
