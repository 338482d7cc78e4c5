#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "apply/input.h"
#include "base/file.h"
#include "base/file_hash.h"
#include "convert/arrays.h"
#include "convert/convert.h"
#include "convert/proof.h"
#include "convert/sources.h"
#include "formats/onnx.h"
#include "manifest/file_tree.h"
#include "ort/model.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "session/holding.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t looked_at_max = 100'000;

class Checker {
 public:
  Checker(Session& session, const ConversionCheckRequest& request, const std::stop_token& stop)
      : settings_(session.settings()), request_(request), stop_(stop) {}

  ConversionCheckRecord run() {
    record_.name = request_.name;
    if (request_.name.find('/') != std::string::npos || try_stat(fs::path(request_.name) / "proof.json")) {
      directory_ = request_.name;
      record_.unchecked.emplace_back("the root: of a directory nothing is recorded elsewhere");
    } else {
      check_root();
    }
    check_proof();
    record_.exit = record_.touched.empty() ? 0 : exit_code(FailureKind::content);
    return std::move(record_);
  }

 private:
  void touched(std::string text) { record_.touched.push_back(std::move(text)); }

  // Each file of the view by the recorded root.
  void check_root() {
    const Catalogue catalogue = make_catalogue(settings_);
    const Recipe recipe = catalogue.find(request_.name, std::nullopt);
    const auto store = open_stores(settings_);
    const auto root = holding_of(recipe, store.get()).root;
    const auto manifest = root ? store->manifest(*root) : std::nullopt;
    if (!manifest) throw Error(FailureKind::offline, fmt::format("the store does not hold {}", recipe.name));
    record_.name = recipe.name;
    record_.manifest = root->prefixed();
    if (recipe.derived) key_ = recipe.derived->key.prefixed();
    directory_ = store->view_path(*root);
    if (!try_stat(directory_)) directory_ = show_input(*store, *manifest, recipe.name, stop_);
    manifest->for_each([&](const Entry& entry) {
      if (!entry.is_file()) return;
      const auto fd = try_open_file(directory_ / entry.path.text(), O_RDONLY);
      if (!fd) return touched(fmt::format("{} is not there", printable(entry.path.text())));
      struct stat status {};
      const bool known = ::fstat(fd->get(), &status) == 0;
      const auto size = known ? static_cast<std::uint64_t>(status.st_size) : 0;
      if (hash_file(fd->get(), size, entry.path.text()).digest != entry.digest)
        touched(fmt::format("{} is not what the root {} says", printable(entry.path.text()), record_.manifest));
    });
  }

  void check_proof() {
    const auto text = try_read_text(directory_ / "proof.json", proof_bytes_max);
    if (!text) {
      throw Error(FailureKind::not_found, fmt::format("{} has no proof.json", printable(request_.name, 4096)),
                  "it is no asset of a conversion");
    }
    std::optional<ReadProof> proof;
    try {
      proof = parse_proof(*text, "proof.json");
    } catch (const Error& error) {
      return touched(error.failure().message);
    }
    record_.verdict = proof->verdict;
    if (!key_.empty() && proof->key != key_) touched("proof.json is that of another request: its key is another");
    check_strangers(*proof);
    open_runtime();
    for (const ReadModel& model : proof->models) check_model(model);
  }

  void check_strangers(const ReadProof& proof) {
    std::set<std::string> known{"proof.json", "latency.json"};
    for (const ReadModel& model : proof.models) {
      for (const auto& [path, digest] : model.files) known.insert(path);
    }
    std::error_code error;
    std::size_t seen = 0;
    for (fs::recursive_directory_iterator at(directory_, error), end; !error && at != end; at.increment(error)) {
      if (at->is_directory() || ++seen > looked_at_max) continue;
      const std::string path = at->path().lexically_relative(directory_);
      if (!known.contains(path)) touched(fmt::format("{} is no part of the proof", printable(path)));
    }
  }

  void open_runtime() {
    const Environment& environment = request_.environment;
    try {
      runtime_ =
          OrtRuntime::open({[&](const std::string& name) { return environment.get(name); }, environment.executable});
    } catch (const Error& error) {
      record_.unchecked.push_back("the comparison: " + error.failure().message);
    }
  }

  void check_model(const ReadModel& model) {
    bool whole = true;
    for (const auto& [path, digest] : model.files) {
      if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "interrupted");
      ++record_.files;
      const auto status = try_stat(directory_ / path);
      if (!status || !S_ISREG(status->st_mode)) {
        touched(fmt::format("{} is not there", printable(path)));
        whole = false;
      } else if (sha256_of_file(directory_ / path) != digest) {
        touched(fmt::format("{} has another SHA-256 than the proof says", printable(path)));
        whole = false;
      }
    }
    if (model.file.empty()) return;
    try {
      const std::string graph = json_of_graph(read_onnx(directory_ / model.file).graph)
                                    .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      if (graph != model.graph) touched(fmt::format("the graph of {} has other facts than the proof says", model.file));
    } catch (const Error& error) {
      if (!model.graph.empty()) touched(error.failure().message);
      return;
    }
    if (model.verdict != "equal" || !runtime_ || !whole) return;
    try {
      compare(model);
    } catch (const Error& error) {
      touched(fmt::format("{}: {}", model.file, error.failure().message));
    }
  }

  void compare(const ReadModel& model) {
    OrtOptions as_it_is;
    as_it_is.optimise = false;
    const OrtModel graph(runtime_, directory_ / model.file, model.file, as_it_is);
    for (const std::string& set : model.sets) {
      std::vector<Tensor> inputs;
      for (std::size_t k = 0; k < graph.inputs().size(); ++k) {
        const auto& names = model.expected.input_names;
        const auto named = std::ranges::find(names, graph.inputs()[k].name);
        const auto at = named == names.end() ? k : static_cast<std::size_t>(named - names.begin());
        inputs.push_back(read_array(directory_ / evidence_path(model.name, set, "input", at)));
      }
      const auto outputs = graph.run(inputs);
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        const std::string name = printable(graph.outputs()[k].name, 1000);
        const auto of_set = model.tolerances.find(set);
        if (of_set == model.tolerances.end() || !of_set->second.contains(name)) {
          touched(fmt::format("{} of {} was not compared, by the proof", name, set));
          continue;
        }
        const Tensor original = read_array(directory_ / evidence_path(model.name, set, "output", k));
        const OutputDifference difference = difference_of(original, outputs[k], of_set->second.at(name));
        ++record_.compared;
        if (!difference.is_equal()) {
          touched(fmt::format("{} on {} is not equal any more: {} of {} elements differ, by {:.3g} at most{}", name,
                              set, difference.outside, difference.elements, difference.max_abs,
                              difference.trouble.empty() ? "" : ": " + difference.trouble));
        }
      }
    }
  }

  const SessionSettings& settings_;
  const ConversionCheckRequest& request_;
  const std::stop_token& stop_;
  fs::path directory_;
  std::string key_;
  std::shared_ptr<const OrtRuntime> runtime_;
  ConversionCheckRecord record_;
};

}  // namespace

ConversionCheckRecord look_at_conversion(Session& session, const ConversionCheckRequest& request,
                                         const std::stop_token& stop) {
  return Checker(session, request, stop).run();
}

}  // namespace sabath
