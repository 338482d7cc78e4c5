#include "convert/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>

#include "apply/input.h"
#include "apply/plan.h"
#include "apply/result.h"
#include "base/companion.h"
#include "base/file.h"
#include "base/file_hash.h"
#include "base/hash.h"
#include "base/wording.h"
#include "convert/arrays.h"
#include "convert/chain_original.h"
#include "convert/conversion_recipe.h"
#include "convert/engine_run.h"
#include "convert/proof.h"
#include "convert/record.h"
#include "convert/sources.h"
#include "fetch/known_tree.h"
#include "holdings/holding.h"
#include "holdings/registration.h"
#include "machine/machine.h"
#include "run/commands.h"
#include "sabath/error.h"
#include "store/take.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t reason_bytes_max = 1000;
constexpr std::size_t name_bytes_max = 100;  // of a merged model

class Converter {
 public:
  Converter(const CallingSession& caller, const ConvertRequest& request, EventSink& events, const std::stop_token& stop)
      : caller_(caller), settings_(caller.settings), request_(request), events_(events), stop_(stop) {}

  ConvertRecord run() {
    const auto begin = std::chrono::steady_clock::now();
    check();
    store_ = open_stores(settings_);
    sources_ = find_sources(caller_, *store_, request_, events_, stop_);
    proof_.request = conversion_key_text(request_, sources_);
    record_.key = sha256(proof_.request);
    record_.name = request_.as.empty() ? derived_name(sources_.front().name, "convert", record_.key) : request_.as;
    lease_ = store_->lease({}, "convert " + record_.name, {true});
    const auto root = known_root();
    record_.was_there = root.has_value();
    if (!request_.as.empty() && !is_its_own()) check_free(settings_, request_.as, root);
    if (root) {
      finish(*root);
    } else if (!request_.dry_run) {
      finish(work());
    }
    record_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::move(record_);
  }

 private:
  void check() const {
    if (!request_.as.empty()) check_name(request_.as);
    if (printable(request_.stochastic, reason_bytes_max) != request_.stochastic) {
      throw Error(FailureKind::usage,
                  fmt::format("the reason is longer than {} bytes, or no plain text", reason_bytes_max));
    }
    for (const auto& value : {request_.absolute, request_.relative}) {
      if (value && !(*value >= 0 && *value < HUGE_VAL))
        throw Error(FailureKind::usage, fmt::format("{} is no tolerance", *value), "it is a number from 0 on");
    }
    static_cast<void>(precision(std::nullopt));
  }

  [[nodiscard]] std::optional<TensorType> precision(std::optional<TensorType> usual) const {
    if (request_.precision.empty()) return usual;
    for (const TensorType type : {TensorType::float16, TensorType::float32, TensorType::float64}) {
      if (request_.precision == sabath::name(type)) return type;
    }
    throw Error(FailureKind::usage, fmt::format("the precision \"{}\" is none", printable(request_.precision)),
                "it is float16, float32 or float64");
  }

  [[nodiscard]] bool is_its_own() const {
    const auto known = make_catalogue(settings_).try_find(request_.as, std::nullopt);
    return known && known->name == request_.as && known->derived && known->derived->key == record_.key;
  }

  [[nodiscard]] std::optional<Sha256> known_root() const {
    const auto ref = store_->ref(record_.key);
    const auto manifest = ref ? store_->manifest(ref->root) : std::nullopt;
    return manifest && all_present(*store_, *manifest) ? std::optional(ref->root) : std::nullopt;
  }

  // A directory below the store's temporary ones, removed with all that is left in it.
  class ConversionScratch {
   public:
    explicit ConversionScratch(Store& store) : directory_(store.make_temporary_directory()) {}
    ~ConversionScratch() {
      std::error_code ignored;
      fs::remove_all(directory_, ignored);
    }
    ConversionScratch(const ConversionScratch&) = delete;
    ConversionScratch& operator=(const ConversionScratch&) = delete;
    [[nodiscard]] const fs::path& directory() const { return directory_; }

   private:
    fs::path directory_;
  };

  Sha256 work() {
    const Environment& environment = request_.environment;
    // First what can be missing: an hour of converting without a witness would be for nothing.
    runtime_ =
        OrtRuntime::open({[&](const std::string& name) { return environment.get(name); }, environment.executable});
    std::vector<InputSets> inputs;
    for (const ConversionSource& source : sources_) {
      const ConvertModel& asked = source.asked;
      inputs.push_back(make_input_sets({asked.dummy, asked.data, asked.samples, request_.seed, !request_.fixed_batch}));
      if (request_.merge) break;
    }
    std::vector<bool> trusted;
    for (const ConversionSource& source : sources_)
      trusted.push_back(ask_conversion_consent(settings_, request_, source));
    events_.on(event::PhaseChanged{"convert"});
    proof_.key = record_.key.prefixed();
    proof_.seed = request_.seed;
    proof_.runtime_version = runtime_->version();
    proof_.sabath_version = SABATH_VERSION;
    std::vector<std::unique_ptr<ConversionScratch>> scratches;
    std::vector<MadeModel> made;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "the conversion was stopped");
      scratches.push_back(std::make_unique<ConversionScratch>(*store_));
      made.push_back(request_.merge ? merge(inputs[i], scratches.back()->directory())
                                    : convert(sources_[i], inputs[i], trusted[i], scratches.back()->directory()));
    }
    return settle(made, scratches.front()->directory());
  }

  // The files of one model, by their paths in the asset.
  struct MadeModel {
    std::vector<std::pair<std::string, fs::path>> files;
  };

  // The sets whose latency is measured.
  static std::vector<std::string> timed_sets(const ConversionSource& source, bool fixed_batch) {
    if (fixed_batch) return {"dummy"};
    return {"one", source.data.empty() ? "random" : "data"};
  }

  MadeModel convert(const ConversionSource& source, const InputSets& inputs, bool trusted, const fs::path& scratch) {
    const auto timed = timed_sets(source, request_.fixed_batch);
    EngineRun run = run_engine(source, request_, inputs.sets, timed, trusted, scratch,
                               find_companion(settings_.program), stop_, nlohmann::json::object());
    return settle_model(begin_proof(source, inputs, run), inputs, run, timed, scratch);
  }

  // One graph of the chain. The original is the chain itself, which runs here.
  MadeModel merge(const InputSets& inputs, const fs::path& scratch) {
    ConversionSource whole = sources_.front();
    std::vector<fs::path> files;
    nlohmann::json names = nlohmann::json::array();
    whole.name.clear();
    for (const ConversionSource& source : sources_) {
      whole.name += (whole.name.empty() ? "" : "+") + source.name;
      files.push_back(source.file);
      names.push_back(source.file.native());
    }
    if (whole.name.size() > name_bytes_max) whole.name.resize(name_bytes_max);
    whole.asked.output_names = sources_.back().asked.output_names;
    const ChainOriginal chain(runtime_, std::move(files));
    std::vector<OriginalRuns> originals = chain.run(inputs.sets);
    const auto timed = timed_sets(whole, request_.fixed_batch);
    EngineRun run = run_engine(whole, request_, inputs.sets, timed, false, scratch, find_companion(settings_.program),
                               stop_, {{"models", std::move(names)}, {"joints", chain.joints()}});
    run.originals = std::move(originals);
    run.timings = chain.time(inputs.sets, timed);
    ProvenModel proven = begin_proof(whole, inputs, run);
    for (const ConversionSource& source : sources_) {
      proven.parents.push_back({source.name, source.recipe ? source.asked.model : source.file.filename().native(),
                                source.digest, source.root});
    }
    return settle_model(std::move(proven), inputs, run, timed, scratch);
  }

  MadeModel settle_model(ProvenModel proven, const InputSets& inputs, EngineRun& run,
                         const std::vector<std::string>& timed, const fs::path& scratch) {
    MadeModel made;
    if (!run.trouble.empty()) {
      proven.judgement.findings.push_back(run.trouble);
    } else {
      judge(proven, inputs, run, timed);
      place(proven, run, made);
      add_evidence(proven, inputs, run, scratch, made);
    }
    for (const auto& [path, file] : made.files) proven.files.emplace_back(path, sha256_of_file(file));
    proof_.models.push_back(std::move(proven));
    return made;
  }

  [[nodiscard]] ProvenModel begin_proof(const ConversionSource& source, const InputSets& inputs,
                                        const EngineRun& run) const {
    ProvenModel proven;
    proven.name = source.name;
    proven.from = source.engine.name;
    proven.source = source.recipe ? source.asked.model : source.file.filename().native();
    proven.factory = source.factory;
    proven.source_digest = source.digest;
    proven.source_root = source.root;
    proven.code = source.code_digest;
    proven.dummy = source.dummy;
    proven.data = source.data;
    proven.rows = inputs.rows;
    proven.isolation = text_of(run.isolation);
    proven.tools = source.tools;
    proven.argv = run.argv;
    proven.engine = source.engine.digest;
    StatedTerms& expected = proven.expected;
    expected.input_names = source.asked.input_names;
    expected.output_names = source.asked.output_names;
    expected.opset = request_.opset;  // the engine's own is a wish: some converters write the lowest one that will do
    expected.any_batch = !request_.fixed_batch;
    expected.precision = precision(source.engine.precision);
    expected.absolute = request_.absolute;
    expected.relative = request_.relative;
    expected.stochastic = request_.stochastic;
    return proven;
  }

  void judge(ProvenModel& proven, const InputSets& inputs, EngineRun& run, const std::vector<std::string>& timed) {
    try {
      const Witness witness(runtime_, run.file, proven.expected);
      proven.graph = witness.graph();
      proven.judgement = witness.judge(inputs.sets, run.originals, timed);
      proven.judgement.timings.insert(proven.judgement.timings.begin(), run.timings.begin(), run.timings.end());
    } catch (const Error& error) {
      if (error.failure().kind != FailureKind::invalid && error.failure().kind != FailureKind::content) throw;
      proven.judgement.findings.push_back(error.failure().message);
    }
    if (proven.data.empty())
      proven.judgement.notes.emplace_back("no real samples were given: it was judged by random ones and zeros");
    if (proven.isolation == text_of(Isolation::none))
      proven.judgement.notes.emplace_back("the engine was not isolated from the network: this machine has no means");
  }

  static void place(ProvenModel& proven, const EngineRun& run, MadeModel& made) {
    const std::string directory = run.beside.empty() ? "" : proven.name + "/";
    proven.file = directory + proven.name + ".onnx";
    made.files.emplace_back(proven.file, run.file);
    for (const fs::path& file : run.beside) {
      const std::string below = file.lexically_relative(run.file.parent_path());
      made.files.emplace_back(RelativePath::parse(directory + below).text(), file);
    }
  }

  // What was compared, from this process's memory: the engine could have changed what it got.
  static void add_evidence(const ProvenModel& proven, const InputSets& inputs, const EngineRun& run,
                           const fs::path& scratch, MadeModel& made) {
    const fs::path evidence = scratch / "evidence";
    fs::create_directory(evidence);
    const auto add = [&](const std::string& set, std::string_view what, std::size_t k, const Tensor& array) {
      const fs::path file = evidence / fmt::format("{}.{}.{}.npy", set, what, k);
      write_array(file, array);
      made.files.emplace_back(evidence_path(proven.name, set, what, k), file);
    };
    for (std::size_t i = 0; i < inputs.sets.size(); ++i) {
      const InputSet& set = inputs.sets[i];
      for (std::size_t k = 0; k < set.inputs.size(); ++k) add(set.name, "input", k, set.inputs[k]);
      for (std::size_t k = 0; k < run.originals[i].first.size(); ++k)
        add(set.name, "output", k, run.originals[i].first[k]);
    }
  }

  // All models, or none: where one failed, no file of the asset is a model by its name.
  Sha256 settle(std::vector<MadeModel>& made, const fs::path& scratch) {
    if (proof_.verdict() >= ConversionVerdict::unjudged) {
      for (std::size_t i = 0; i < made.size(); ++i) disown(proof_.models[i], made[i]);
    }
    const auto variable = [&](const std::string& name) { return request_.environment.get(name); };
    std::vector<Output> outputs;
    const auto take = [&](const std::string& path, const fs::path& file) {
      outputs.push_back({RelativePath::parse(path), take_file(*store_, file), false});
    };
    const auto write = [&](const std::string& name, const std::string& text) {
      write_text_atomically(scratch / name, text);
      take(name, scratch / name);
    };
    for (const MadeModel& one : made) {
      for (const auto& [path, file] : one.files) take(path, file);
    }
    write("proof.json", text_of(proof_));
    write("latency.json", latency_text(latencies_of(proof_), describe_machine(variable, stop_)));
    const Sha256 root = put_result(*store_, outputs, nullptr, derivation(std::string(name(proof_.verdict()))));
    lease_.add(root);
    // No source can be asked for it again, so a collection keeps it.
    store_->put_ref(record_.key, {root, "derived", {}, std::time(nullptr), "", record_.name});
    return root;
  }

  void disown(ProvenModel& proven, MadeModel& made) const {
    const std::string mark = proof_.verdict() == ConversionVerdict::failed ? ".failed" : ".unjudged";
    for (auto& [path, file] : made.files) {
      if (path.ends_with(".onnx")) path += mark;
    }
    for (auto& [path, digest] : proven.files) {
      if (path.ends_with(".onnx")) path += mark;
    }
    if (!proven.file.empty()) proven.file += mark;
  }

  void finish(const Sha256& root) {
    record_.manifest = root.prefixed();
    const auto manifest = store_->manifest(root);
    if (!manifest) throw Error(FailureKind::storage, "the new asset is not in the store any more", "run it again");
    fill_record(*store_, *manifest, record_);
    if (record_.verdict == name(ConversionVerdict::failed)) record_.exit = exit_code(FailureKind::content);
    if (record_.verdict == name(ConversionVerdict::unjudged)) record_.exit = unjudged_exit;
    if (request_.dry_run) return;
    register_text(settings_, *store_, record_.name, root,
                  conversion_recipe(sources_, request_, record_.name, root, derivation(record_.verdict)));
    record_.path = show_asset(settings_, *store_, record_.name, root, stop_);
  }

  [[nodiscard]] DerivationStep derivation(const std::string& verdict) const {
    return conversion_step(sources_, request_, record_.key, verdict);
  }

  const CallingSession& caller_;
  const SessionSettings& settings_;
  const ConvertRequest& request_;
  EventSink& events_;
  const std::stop_token& stop_;
  std::unique_ptr<Store> store_;
  std::vector<ConversionSource> sources_;
  std::shared_ptr<const OrtRuntime> runtime_;
  Lease lease_;
  Proof proof_;
  ConvertRecord record_;
};

}  // namespace

ConvertRecord make_conversion(const CallingSession& caller, const ConvertRequest& request, EventSink& events,
                              const std::stop_token& stop) {
  return Converter(caller, request, events, stop).run();
}

}  // namespace sabath
