#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "apply/input.h"
#include "base/file.h"
#include "base/file_hash.h"
#include "base/hash.h"
#include "convert/arrays.h"
#include "convert/convert.h"
#include "convert/proof.h"
#include "convert/sources.h"
#include "formats/onnx.h"
#include "holdings/holding.h"
#include "manifest/file_tree.h"
#include "ort/model.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t looked_at_max = 100'000;

int rank_of(std::string_view verdict) {
  for (const auto known : {ConversionVerdict::equal, ConversionVerdict::stochastic, ConversionVerdict::unjudged}) {
    if (verdict == name(known)) return static_cast<int>(known);
  }
  return static_cast<int>(ConversionVerdict::failed);
}

class Checker {
 public:
  Checker(const SessionSettings& settings, const ConversionCheckRequest& request, const std::stop_token& stop)
      : settings_(settings), request_(request), stop_(stop) {}

  ConversionCheckRecord run() {
    record_.name = request_.name;
    if (request_.name.find('/') != std::string::npos || try_stat(fs::path(request_.name) / "proof.json")) {
      directory_ = request_.name;
      record_.unchecked.emplace_back("the root: of a directory nothing is recorded elsewhere");
    } else {
      check_root();
    }
    check_proof();
    conclude();
    return std::move(record_);
  }

 private:
  void touched(std::string text) { record_.touched.push_back(std::move(text)); }

  // What the check itself has found: files that agree with each other prove nothing where nothing was compared, and no
  // root is recorded.
  void conclude() {
    const bool stands_by_itself = !record_.manifest.empty() || record_.verdict == name(ConversionVerdict::failed) ||
                                  record_.verdict == name(ConversionVerdict::unjudged);
    record_.found = record_.verdict;
    if (!record_.touched.empty()) {
      record_.found = "touched";
      record_.exit = exit_code(FailureKind::content);
    } else if (outdated_ || (!stands_by_itself && (record_.compared == 0 || uncompared_))) {
      record_.found = name(ConversionVerdict::unjudged);
      record_.exit = unjudged_exit;
    }
  }

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
    check_request(*proof);
    check_strangers(*proof);
    open_runtime();
    for (const ReadModel& model : proof->models) check_model(model);
  }

  // The key is the digest of the request, and what the proof says of its models is what was requested.
  void check_request(const ReadProof& proof) {
    if (proof.schema == 1) {
      record_.unchecked.emplace_back("the key: a proof of this age does not keep the request that it is the digest of");
    } else {
      if (sha256(proof.request).prefixed() != proof.key) touched("the key is not the digest of the request");
      for (std::string& word : disagreements_of(proof)) touched(std::move(word));
    }
    const auto worst = [](const ReadModel& a, const ReadModel& b) { return rank_of(a.verdict) < rank_of(b.verdict); };
    const auto model = std::ranges::max_element(proof.models, worst);
    if (model == proof.models.end() || model->verdict != proof.verdict)
      touched("the verdict is not the worst one of the models'");
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
    const bool claims =
        model.verdict == name(ConversionVerdict::equal) || model.verdict == name(ConversionVerdict::stochastic);
    const bool noisy = model.verdict == name(ConversionVerdict::equal) && !model.noisy.empty();
    if (claims && (model.compared.empty() || !model.findings.empty() || noisy))
      touched(fmt::format("the verdict {} of {} contradicts what is beside it", model.verdict, model.name));
    if (!claims) {
      record_.unchecked.push_back(
          fmt::format("the comparison of {}: its verdict is {}", model.name, printable(model.verdict, 100)));
    }
    if (!claims || !runtime_ || !whole || model.sets.empty()) {
      uncompared_ |= claims;
      return;
    }
    try {
      compare(model);
    } catch (const Error& error) {
      touched(fmt::format("{}: {}", model.file, error.failure().message));
    }
  }

  // What the recorded inputs give now, and what the original gave.
  struct GivenAgain {
    std::vector<std::vector<Tensor>> originals, outputs;  // by set
    std::vector<std::int64_t> samples;
  };

  [[nodiscard]] GivenAgain run_again(const ReadModel& model, const OrtModel& graph) const {
    GivenAgain given;
    for (const std::string& set : model.sets) {
      std::vector<Tensor> inputs;
      for (std::size_t k = 0; k < graph.inputs().size(); ++k) {
        const auto& names = model.expected.input_names;
        const auto named = std::ranges::find(names, graph.inputs()[k].name);
        const auto at = named == names.end() ? k : static_cast<std::size_t>(named - names.begin());
        inputs.push_back(read_array(directory_ / evidence_path(model.name, set, "input", at)));
      }
      const bool counted_by_first = !inputs.empty() && !inputs.front().shape.empty();
      given.samples.push_back(counted_by_first ? inputs.front().shape.front() : 0);
      given.outputs.push_back(graph.run(inputs));
      std::vector<Tensor>& originals = given.originals.emplace_back();
      for (std::size_t k = 0; k < given.outputs.back().size(); ++k)
        originals.push_back(read_array(directory_ / evidence_path(model.name, set, "output", k)));
    }
    return given;
  }

  void compare(const ReadModel& model) {
    OrtOptions as_it_is;
    as_it_is.optimise = false;
    const OrtModel graph(runtime_, directory_ / model.file, model.file, as_it_is);
    const GivenAgain given = run_again(model, graph);
    std::vector<GivenOriginal> originals;
    for (std::size_t i = 0; i < model.sets.size(); ++i)
      originals.push_back({model.sets[i], given.samples[i], &given.originals[i]});
    std::vector<TensorType> types;
    std::ranges::transform(given.outputs.front(), std::back_inserter(types), &Tensor::type);
    const auto yardsticks = yardsticks_of(originals, types, model.expected);
    for (std::size_t k = 0; k < yardsticks.size(); ++k) {
      const std::string name = printable(graph.outputs()[k].name, 1000);
      const auto stated = model.tolerances.find(name);
      if (model.schema > 1 && (stated == model.tolerances.end() || stated->second != yardsticks[k].tolerance()))
        touched(fmt::format("the tolerance of {} is not the one that was stated", name));
      compare_output(model, given, k, name, yardsticks[k]);
      if (const std::string why = yardsticks[k].trouble(); !why.empty())
        doubt(model, name + " cannot be judged: " + why);
    }
  }

  void compare_output(const ReadModel& model, const GivenAgain& given, std::size_t k, const std::string& name,
                      const Yardstick& yardstick) {
    for (std::size_t set = 0; set < model.sets.size(); ++set) {
      if (!model.compared.contains({model.sets[set], name})) {
        touched(fmt::format("{} of {} was not compared, by the proof", name, model.sets[set]));
        continue;
      }
      if (model.noisy.contains(name)) {
        record_.unchecked.push_back(fmt::format("{} on {}: the original does not repeat it", name, model.sets[set]));
        continue;
      }
      const OutputDifference difference =
          difference_of(given.originals[set].at(k), given.outputs[set].at(k), yardstick);
      ++record_.compared;
      if (difference.is_equal()) continue;
      doubt(model,
            fmt::format("{} on {} is not equal{}: {} of {} elements differ, by {:.3g} at most{}", name, model.sets[set],
                        model.schema == 1 ? " by its spread" : " any more", difference.outside, difference.elements,
                        difference.max_abs, difference.trouble.empty() ? "" : ": " + difference.trouble));
    }
  }

  // A proof of the first schema knew no spread: what it says may have been untouched, and never was proven.
  void doubt(const ReadModel& model, std::string text) {
    if (model.schema > 1) return touched(std::move(text));
    outdated_ = true;
    record_.unchecked.push_back(std::move(text) + "; the proof is of an older version, which judged by |x|");
  }

  const SessionSettings& settings_;
  const ConversionCheckRequest& request_;
  const std::stop_token& stop_;
  fs::path directory_;
  std::string key_;
  bool outdated_ = false;    // by an old rule it was equal, by today's it is not
  bool uncompared_ = false;  // a model that is said to be equal was not compared again
  std::shared_ptr<const OrtRuntime> runtime_;
  ConversionCheckRecord record_;
};

}  // namespace

ConversionCheckRecord look_at_conversion(const SessionSettings& settings, const ConversionCheckRequest& request,
                                         const std::stop_token& stop) {
  return Checker(settings, request, stop).run();
}

}  // namespace sabath
