#include "demo/demo.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/percent.h"
#include "base/process.h"
#include "base/text.h"
#include "base/wording.h"
#include "demo/step.h"
#include "demo/universe.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::demo {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

constexpr const char* dataset = "cosmouniverse_quickstart";  // what the model's recipe asks for
constexpr std::size_t universes_count = 64, universe_side = 32, nodes_count = 4;
constexpr std::uint64_t seed = 2019, universe_bytes_max = 64 << 20;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// As a person would type it.
std::string typed(const Words& argv) {
  std::string line;
  for (const std::string& word : argv) {
    const bool plain = word.find_first_of(" {}*'\"$") == std::string::npos;
    line += (line.empty() ? "" : " ") + (plain ? word : "'" + word + "'");
  }
  return line;
}

std::string file_url(const fs::path& file) { return "file://" + percent_encode_path(file.string()); }

Sha256 hash_of(const fs::path& file) {
  const auto bytes = try_read_text(file, universe_bytes_max);
  if (!bytes) throw Error(FailureKind::content, fmt::format("{} is not there", printable(file.string())));
  return sha256(*bytes);
}

class Story {
 public:
  Story(const DemoRequest& request, const std::stop_token& stop)
      : request_(request),
        at_(surroundings_of(request.program, request.directory, request.variables, stop)),
        stop_(stop) {
    record_.directory = request.directory;
  }

  DemoRecord tell() {
    const fs::path lab = make_universes();
    {
      title("A lab's store, and two mirrors that serve it, on this machine");
      write_recipe([&](const std::string& name) { return Words{file_url(lab / name)}; });
      run({"sabath", "fetch", dataset, "--store", "lab/store"});
      Origin a(request_.directory / "lab/store", at_), b(request_.directory / "lab/store", at_);
      say(fmt::format("$ sabath serve --store lab/store --listen 127.0.0.1:0      twice: {} and {}\n", a.url(),
                      b.url()));
      title("A recipe: what the data set is, where its bytes may come from, and their SHA-256");
      const fs::path recipe = write_recipe([&](const std::string&) { return Words{a.url(), b.url()}; });
      say(fmt::format("{}\n$ cd {}\n$ export SABATH_CACHE=$PWD/store SABATH_RECIPES=$PWD/recipes\n", recipe.string(),
                      request_.directory.string()));
      fetch();
      record_.served_bytes = a.stop() + b.stop();
      say(fmt::format("by its record {} bytes fetched; by theirs the two servers gave {}. Both have ended now.\n",
                      record_.fetched_bytes, record_.served_bytes));
    }
    look_and_fetch_again();
    stage();
    if (const std::string why = no_training(); why.empty()) {
      train();
    } else {
      title("A small model: left out");
      say(why + "\n");
      record_.left_out["run"] = why;
    }
    record_.seconds = seconds_since(begin_);
    return std::move(record_);
  }

 private:
  void say(const std::string& text) const { request_.on_text(text); }
  void title(const char* text) {
    say(fmt::format("\n== {}. {}\n", ++titles_, text));
    if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "the demonstration was stopped");
  }

  // Runs what is shown. `sabath` is this program, also where a launcher starts it.
  StepResult attempt(const Words& words) {
    const std::string line = typed(words);
    say("$ " + line + "\n");
    Words argv = words;
    for (std::string& word : argv) {
      if (word == "sabath") word = request_.program;
    }
    const auto begin = Clock::now();
    StepResult result = run_step(argv, at_, request_.on_text);
    record_.steps.push_back({line, result.exit, seconds_since(begin)});
    return result;
  }

  // As attempt(), of what must succeed; a record is kept in `keep` instead of being shown.
  std::string run(const Words& words, const char* keep = nullptr) {
    const StepResult result = attempt(words);
    if (keep != nullptr) write_text_atomically(request_.directory / keep, result.out);
    if (keep == nullptr) say(result.out);
    if (result.exit == 0) return result.out;
    throw Error(FailureKind::command, fmt::format("`{}` ended with exit code {}", typed(words), result.exit),
                fmt::format("what it said is above; {} says whether this machine is ready", verb_text("doctor")));
  }

  fs::path make_universes() {
    title("Small universes with the structure of CosmoUniverse's HDF5 files");
    const fs::path place = request_.directory / "lab/universes";
    make_directories(place);
    write_text_atomically(request_.directory / "config.json", "{\"offline\": false}\n");
    for (std::size_t i = 0; i < universes_count; ++i) {
      if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "the demonstration was stopped");
      const fs::path file = write_universe(place, make_universe(seed, i, universe_side));
      files_[file.filename().string()] = hash_of(file);
      record_.bytes += static_cast<std::uint64_t>(try_stat(file).value().st_size);
    }
    record_.universes = files_.size();
    say(fmt::format("{}, {}, in {}\n", counted(files_.size(), "file"), format_bytes(record_.bytes), place.string()));
    return place;
  }

  // `urls`: of the file with this name.
  fs::path write_recipe(const std::function<Words(const std::string&)>& urls) {
    auto fragments = nlohmann::ordered_json::array();
    for (const auto& [name, hash] : files_) {
      fragments.push_back({{"id", fmt::format("main_{}", fragments.size())},
                           {"type", "file"},
                           {"path", name},
                           {"urls", urls(name)},
                           {"checksum", {{"sha256", hash.hex()}}}});
    }
    const nlohmann::ordered_json recipe{
        {"schema", 1}, {"kind", "dataset"}, {"name", dataset}, {"version", "1"}, {"fragments", fragments}};
    const fs::path file = request_.directory / fmt::format("recipes/datasets/{}.json", dataset);
    make_directories(file.parent_path());
    write_text_atomically(file, recipe.dump(2) + "\n");
    return file;
  }

  void fetch() {
    title("Fetch: from both mirrors, every byte hashed as it lands");
    record_.fetched_bytes =
        number_in(run({"sabath", "fetch", dataset, "--json"}, "first.json"), {"assets", "fetched_bytes"});
  }

  void look_and_fetch_again() {
    title("Verify: read everything in the store again");
    run({"sabath", "verify", dataset});
    title("Where training finds it");
    run({"sabath", "path", dataset});
    title("Fetch again: nothing to do, so no server is needed");
    const std::string again = run({"sabath", "fetch", dataset, "--json"}, "second.json");
    record_.again_bytes = number_in(again, {"assets", "fetched_bytes"});
    say(fmt::format("{} bytes moved, {} bytes found in the store\n", record_.again_bytes,
                    number_in(again, {"assets", "reused_bytes"})));
    if (record_.again_bytes != 0) throw Error(FailureKind::content, "the second fetch moved bytes");
  }

  void stage() {
    title("Stage: to the disks of nodes (pretended, on this machine), each byte read once");
    const Words command{"sabath", "stage", dataset, "--to", request_.directory / "nodes/{node}", "--json"};
    std::string why = "there is no mpirun and no mpiexec in PATH";
    for (const char* launcher : {"mpirun", "mpiexec"}) {
      if (find_program(launcher, at_.path).empty()) continue;
      Words ranks{launcher, "-n", std::to_string(nodes_count)};
      ranks.insert(ranks.end(), command.begin(), command.end());
      ranks.insert(ranks.end(), {"--emulate-nodes", std::to_string(nodes_count)});
      const StepResult result = attempt(ranks);
      if (result.exit == 0) return staged(result.out, launcher, nodes_count);
      remove_tree(request_.directory / "nodes");
      why = fmt::format("{} did not start {} ranks of it (exit code {}; what it said is above)", launcher, nodes_count,
                        result.exit);
      break;
    }
    say(why + ": so one rank stages to one node.\n");
    record_.left_out["nodes"] = why;
    Words alone = command;
    alone.insert(alone.end(), {"--emulate-nodes", "1"});
    staged(run(alone, "staged.json"), "", 1);
  }

  void staged(const std::string& out, const char* launcher, std::size_t nodes) {
    write_text_atomically(request_.directory / "staged.json", out);
    record_.launcher = launcher;
    record_.nodes = nodes;
    record_.bytes_from_shared = number_in(out, {"assets", "bytes_from_shared"});
    record_.bytes_from_peers = number_in(out, {"assets", "bytes_from_peers"});
    for (std::size_t node = 0; node < nodes; ++node) {
      const fs::path place = request_.directory / fmt::format("nodes/{}/{}", node, dataset);
      for (const auto& [name, hash] : files_) {
        if (hash_of(place / name) != hash)
          throw Error(FailureKind::content, fmt::format("{} is not what was made", (place / name).string()));
      }
    }
    say(
        fmt::format("by its record {} bytes read from the store, {} bytes between the nodes;\n"
                    "and {} has what was made\n",
                    record_.bytes_from_shared, record_.bytes_from_peers, nodes == 1 ? "the node" : "every node"));
  }

  // Why the model cannot run here; empty: it can. Asks the interpreters that `sabath run` tries.
  [[nodiscard]] std::string no_training() {
    std::string why = "there is no python3 in PATH";
    for (const std::string python : {"/usr/bin/python3", "python3"}) {
      if (!std::filesystem::exists(find_program(python, at_.path))) continue;
      std::string said;
      const auto keep = [&said](std::string_view more) { said = std::string(more.substr(0, 4096)); };
      if (run_step({python, "-c", "import numpy, h5py"}, at_, keep).exit == 0) return "";
      const std::string_view all = trim(said);
      why = fmt::format("{0} does not have what the model imports ({1}): `{0} -m pip install numpy h5py` brings it",
                        python, printable(all.substr(all.rfind('\n') + 1), 200));
    }
    return why;
  }

  void train() {
    title("Run: a small model on what node 0 has, and its record");
    run({"sabath", "run", "cosmoflow-nano", "--at", "nodes/0", "--run-dir", "run", "--set", "epochs=12",
         "--stage-record", "staged.json"});
    run({"sabath", "report", "run"});
    run({"sabath", "report", "run", "--format", "svg", "-o", "run/figure.svg"});
    record_.figure = request_.directory / "run/figure.svg";
  }

  const DemoRequest& request_;
  const Surroundings at_;
  const std::stop_token& stop_;
  const Clock::time_point begin_ = Clock::now();
  std::map<std::string, Sha256> files_;  // name -> hash
  int titles_ = 0;
  DemoRecord record_;
};

void make_empty(const fs::path& directory) {
  make_directories(directory);
  if (!fs::is_empty(directory)) {
    throw Error(
        FailureKind::usage,
        fmt::format("{} has content, and the demonstration wants a place of its own", printable(directory.string())),
        fmt::format("remove it if it is an earlier demonstration, or name another one: {} DIR", option_text("output")));
  }
}

}  // namespace

DemoRecord tell(const DemoRequest& request, const std::stop_token& stop) {
  make_empty(request.directory);
  return Story(request, stop).tell();
}

nlohmann::ordered_json json_of(const DemoRecord& record) {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json steps = Json::array();
  for (const DemoStep& step : record.steps)
    steps.push_back({{"command", step.command}, {"exit", step.exit}, {"seconds", step.seconds}});
  return {{"schema", 1},
          {"directory", record.directory.string()},
          {"dataset", dataset},
          {"universes", record.universes},
          {"bytes", record.bytes},
          {"fetched_bytes", record.fetched_bytes},
          {"served_bytes", record.served_bytes},
          {"again_bytes", record.again_bytes},
          {"nodes", record.nodes},
          {"launcher", or_null(record.launcher)},
          {"bytes_from_shared", record.bytes_from_shared},
          {"bytes_from_peers", record.bytes_from_peers},
          {"figure", or_null(record.figure.string())},
          {"left_out", Json(record.left_out)},
          {"steps", steps},
          {"seconds", record.seconds},
          {"exit", 0}};
}

}  // namespace sabath::demo
