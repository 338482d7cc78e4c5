// run.json: the record of a run, as the one type that `run` writes and reports read. docs/runs.md explains each key.
// Plain values; any thread. An empty text or an absent number is unknown: null in the file.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/facts.h"
#include "sabath/supporting.h"

namespace sabath {

struct RunTimes {
  std::optional<double> fetch, stage, verify, launch, train;  // seconds
};

struct RunRecord {
  struct Recipe {
    std::string name, version, digest;  // the digest of its file
  };
  struct Loads {                     // code in files that are read, such as pickles: docs/trust.md
    std::string by;                  // why they might be read, as in Trust
    std::vector<std::string> found;  // "PATH: what it is, what it imports"
  };
  struct Asset {
    std::string name, kind;
    std::string manifest;     // "sha256:<hex>"
    std::string verified_by;  // how its bytes were checked for this run
    std::string path;
    std::optional<bool> warm;                  // all was there before
    std::vector<DerivationStep> lineage = {};  // of a derived asset: the steps that made it, the newest first
    std::optional<Loads> loads = {};
    std::string role = {};  // "from": the program started from it
  };
  struct Source {  // the code that ran: what the model's source tree was
    std::string commit, origin, manifest;
  };
  struct Trust {            // why the code might run: docs/trust.md
    std::string by;         // "shipped", "own", "once", "commit", "origin"
    std::string recipe_of;  // "shipped", "own", "others"
    std::string origin, commit, digest;
  };
  struct Step {
    std::vector<std::string> argv;  // as it was launched
    int ranks = 1;
    std::optional<int> exit, signal;
    std::optional<double> seconds;
  };
  struct NamedFile {  // what a model read or gave
    std::string name, path, sha256;
  };
  using Document = std::shared_ptr<const nlohmann::ordered_json>;

  std::string id;
  std::optional<double> started, finished;  // seconds since 1970
  std::string state, mode;
  std::vector<std::string> command;
  std::vector<Step> steps;
  std::string launcher;
  std::optional<int> ranks, nodes;
  std::optional<Recipe> recipe;
  std::optional<std::vector<Asset>> assets;
  std::optional<Source> source;
  std::optional<Trust> trust;
  Document environment, machine;  // by name, as deep as they were found
  RunTimes times;
  std::optional<double> harness_cpu_s;  // of this program, while the steps ran
  Facts config;
  std::vector<NamedFile> inputs, results;  // of a model that ONNX Runtime ran
  std::optional<int> exit, signal;
  std::vector<std::string> last_lines;  // of a program that failed
  std::optional<int> unwritten_lines;   // of output, metrics and resources, that the disk did not take
  Document document;  // of a record that was read: all of it, also the keys that this version does not know
};

[[nodiscard]] nlohmann::ordered_json to_json(const RunRecord& record);
[[nodiscard]] nlohmann::ordered_json to_json(const RunRecord::Recipe& recipe);
[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<RunRecord::Asset>& assets);

// Parses the text of a run.json; `name` is the file's, for messages. A key that an older SABATH or another program left
// out, or wrote with another type, is unknown. Throws Error{invalid} for a text that is no object, no run's record, or
// of a later schema.
[[nodiscard]] RunRecord parse_run_record(std::string_view text, const std::string& name);
// run.json of this directory; nullopt if it has none. Throws as above, and Error{storage}.
[[nodiscard]] std::optional<RunRecord> try_read_run_record(const std::filesystem::path& directory);

}  // namespace sabath
