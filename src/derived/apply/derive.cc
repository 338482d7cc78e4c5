#include "apply/derive.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <set>

#include "apply/consent.h"
#include "apply/in_place.h"
#include "apply/input.h"
#include "apply/result.h"
#include "apply/work.h"
#include "base/companion.h"
#include "base/hash.h"
#include "base/wording.h"
#include "comm/agree.h"
#include "comm/parcel.h"
#include "comm/solo_comm.h"
#include "fetch/known_tree.h"
#include "fetch/shown_view.h"
#include "holdings/by_ranks.h"
#include "holdings/holding.h"
#include "holdings/lineage.h"
#include "holdings/registration.h"
#include "holdings/stores.h"
#include "run/commands.h"
#include "sabath/error.h"

namespace sabath {
namespace {

class Deriver {
 public:
  Deriver(const CallingSession& caller, const ApplyRequest& request, EventSink& events, std::stop_token stop)
      : caller_(caller),
        settings_(caller.settings),
        request_(request),
        events_(events),
        stop_(std::move(stop)),
        solo_(make_solo_comm()),
        comm_(caller.ranks != nullptr ? *caller.ranks : *solo_) {}

  ApplyRecord run() {
    const auto begin = std::chrono::steady_clock::now();
    prepare();
    record_.ranks = comm_.size();
    record_.threads = chosen_.threads;
    if (!input_) return std::move(record_);  // a dry run of what was never here
    settle_key();
    if (!request_.dry_run && !told(record_.was_there)) work();
    if (is_first() && record_.failures.empty()) failure_ = failure_of([&] { finish(); });
    agree_on_end();
    record_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::move(record_);
  }

 private:
  [[nodiscard]] bool is_first() const { return comm_.rank() == 0; }

  // What rank 0 says, on all ranks.
  bool told(bool first) {
    std::string bytes = Parcel().add(std::uint64_t{first}).take();
    comm_.broadcast(bytes, 0);
    return Parcel::Reader(bytes).flag();
  }
  Sha256 told(const Sha256& first) {
    std::string text = first.hex();
    comm_.broadcast(text, 0);
    return Sha256::parse(text);
  }

  void prepare() {
    run_agreed(comm_, [&] {
      const Catalogue catalogue = make_catalogue(settings_);
      recipe_ = catalogue.find(request_.name, std::nullopt);
      // What can be done to an asset can be done to what was derived of it.
      scripts_of_ = origin_of(catalogue, recipe_).value_or(recipe_);
      chosen_ = choose_script(scripts_of_, request_, stop_);
      if (!request_.as.empty()) check_name(request_.as);
    });
    const bool several = comm_.size() > 1;
    if (several) {
      store_ = open_shared_store(comm_, settings_.store);
      look_into_others(*store_, settings_);
    } else {
      store_ = request_.dry_run ? try_open_store(settings_) : open_stores(settings_);
    }
    if (!store_) return;
    run_agreed(comm_, [&] {
      if (!is_first()) return;
      if (!request_.dry_run) lease_ = store_->lease({}, "apply " + recipe_.name, {true});
      input_ = bring_input(caller_, *store_, recipe_, request_, events_, stop_);
    });
    if (told(input_.has_value())) input_ = told(input_.value_or(Sha256{}));
  }

  // All ranks must be about to do the same: a rank with another Python would write other bytes.
  void settle_key() {
    const std::string text = key_text(chosen_.step, *input_, in_place());
    std::string first = text;
    comm_.broadcast(first, 0);
    run_agreed(comm_, [&] {
      if (text == first) return;
      throw Error(FailureKind::usage, "this rank has another script or other tools than rank 0",
                  "let all nodes have the same recipes and programs");
    });
    DerivationStep& made = record_.derivation;
    made.from = recipe_.name;
    made.input = *input_;
    made.script = chosen_.step.script.id;
    made.script_root = chosen_.step.script_root;
    made.in_place = in_place();
    made.arguments = chosen_.step.arguments;
    made.tools = chosen_.step.tools;
    made.key = sha256(text);
    record_.name = request_.as.empty() ? derived_name(recipe_.name, made.script, made.key) : request_.as;
    run_agreed(comm_, [&] {
      if (is_first()) look_up();
    });
  }

  // On rank 0: what is known of this key, and whether the work may begin.
  void look_up() {
    const auto ref = store_->ref(record_.derivation.key);
    const auto manifest = ref && !request_.force ? store_->manifest(ref->root) : std::nullopt;
    if (manifest && all_present(*store_, *manifest)) {
      root_ = ref->root;
      record_.was_there = true;
    }
    if (const auto input = store_->manifest(*input_)) {
      const auto files = files_of(*input);
      record_.inputs = files.size();
      record_.command = shown_command(files.empty() ? "" : files.front().path.text());
    }
    const bool is_foreign = chosen_.built_in == nullptr;
    if (is_foreign && !record_.was_there && !request_.dry_run) ask_consent(settings_, request_, scripts_of_, chosen_);
    if (!request_.as.empty() && !is_its_own(request_.as)) check_free(settings_, request_.as, root_);
    if (in_place() && !request_.dry_run) {
      check_tree_in_place(*store_, request_.in_place, recipe_.name, *input_, root_, chosen_.threads);
    }
  }

  [[nodiscard]] bool is_its_own(const std::string& name) const {
    const auto known = make_catalogue(settings_).try_find(name, std::nullopt);
    return known && known->name == name && known->derived && known->derived->key == record_.derivation.key;
  }

  // Labels belong to the array beside them: a built-in script says which files it does not take by themselves.
  [[nodiscard]] std::vector<Entry> files_of(const Manifest& manifest) const {
    std::vector<Entry> files = inputs_of(chosen_.step.script, manifest);
    if (chosen_.built_in == nullptr || chosen_.built_in->takes == nullptr) return files;
    const ScriptArguments& given = chosen_.step.arguments;
    const BuiltinArguments arguments(given.begin(), given.end());
    std::erase_if(files, [&](const Entry& file) { return !chosen_.built_in->takes(file.path.name(), arguments); });
    return files;
  }

  // A script that is given the directory may read all that is in it.
  [[nodiscard]] std::vector<Entry> files_read(const Manifest& manifest) const {
    SupportingScript script = chosen_.step.script;
    const auto names_all = [](const std::string& word) { return word.find("{dataset}") != std::string::npos; };
    if (std::ranges::any_of(script.argv, names_all)) script.inputs = {"**"};
    return inputs_of(script, manifest);
  }

  [[nodiscard]] bool in_place() const { return !request_.in_place.empty(); }

  [[nodiscard]] std::vector<std::string> shown_command(const std::string& file) const {
    if (chosen_.built_in != nullptr) {
      std::vector<std::string> argv{"sabath", "apply", recipe_.name, chosen_.step.script.id};
      for (const auto& [name, value] : chosen_.step.arguments) argv.push_back(name + "=" + value);
      argv.push_back(fmt::format("num_threads={}", chosen_.threads));
      return argv;
    }
    const std::string name = file.substr(file.rfind('/') + 1);
    const bool one = chosen_.step.script.per_file;
    std::vector<std::string> argv =
        filled(chosen_.step, {one ? file : recipe_.name, "output", recipe_.name, ".", one ? name : "",
                              one ? name.substr(0, name.rfind('.')) : "", chosen_.threads});
    for (std::string& word : argv) {
      if (word.starts_with("./")) word.erase(0, 2);
    }
    return argv;
  }

  void work() {
    std::optional<Manifest> manifest;
    std::filesystem::path view;
    run_agreed(comm_, [&] {
      manifest = store_->manifest(*input_);
      if (!manifest) throw Error(FailureKind::offline, "this rank does not see the input's manifest", "run it again");
      if (!is_first()) return;
      view = show_input(*store_, *manifest, recipe_.name, stop_);
      if (chosen_.built_in == nullptr)  // the built-in scripts load no pickles
        ask_data_consent(settings_, request_, recipe_, input_->prefixed(), view, files_read(*manifest), stop_);
    });
    std::string text = view.native();
    comm_.broadcast(text, 0);
    view = text;
    std::vector<Entry> files = files_of(*manifest);
    if (files.empty()) {
      throw Error(FailureKind::not_found, fmt::format("{} has no file for {}", recipe_.name, chosen_.step.script.id),
                  fmt::format("it reads {}", fmt::join(chosen_.step.script.inputs, ", ")));
    }
    Worked mine;
    run_agreed(comm_, [&] { mine = work_mine(*manifest, view, std::move(files)); });
    const auto all = comm_.gather(encode_worked(mine));
    run_agreed(comm_, [&] {
      if (is_first()) settle(all, *manifest);
    });
  }

  Worked work_mine(const Manifest& manifest, const std::filesystem::path& view, std::vector<Entry> files) {
    const auto dealt = dealt_to(files, comm_.rank(), comm_.size());
    const bool per_file = chosen_.step.script.per_file;
    std::vector<Entry> mine;
    for (const std::size_t i : dealt) mine.push_back(files[i]);
    const std::vector<Entry>& shown = per_file ? mine : files;
    std::uint64_t bytes = 0;
    for (const Entry& file : shown) bytes += file.digest.size_bytes;
    const StepWork work{.store = *store_,
                        .step = chosen_.step,
                        .built_in = chosen_.built_in,
                        .program = chosen_.program,
                        .dataset = view,
                        .input = *input_,
                        .source = chosen_.source,
                        .environment = chosen_.environment,
                        .companion = find_companion(settings_.program),
                        .threads = chosen_.threads,
                        .memory_bytes = request_.memory_bytes,
                        .time = request_.time,
                        .force = request_.force,
                        .events = events_,
                        .stop = stop_};
    events_.on(event::AssetStarted{record_.name, bytes, shown.size()});
    events_.on(event::PhaseChanged{"apply"});
    Worked done;
    if (per_file) done = work_on(work, mine);
    if (!per_file && is_first()) done = work_on_all(work, manifest, files);
    events_.on(event::AssetFinished{record_.name});
    return done;
  }

  // On rank 0: the new asset, of what all ranks made.
  void settle(const std::vector<std::string>& all, const Manifest& input) {
    std::vector<Output> outputs;
    for (const std::string& bytes : all) {
      Worked one = decode_worked(bytes);
      record_.processed += one.processed;
      record_.resumed += one.resumed;
      std::ranges::move(one.outputs, std::back_inserter(outputs));
      std::ranges::move(one.failures, std::back_inserter(record_.failures));
    }
    std::ranges::sort(record_.failures, {}, &ApplyFailure::path);
    if (!record_.failures.empty()) return;
    root_ = put_result(*store_, outputs, in_place() ? &input : nullptr, record_.derivation);
    lease_.add(*root_);
    // As an asset of a bundle: no source can be asked for it again, so a collection keeps it.
    store_->put_ref(record_.derivation.key, {*root_, "derived", {}, std::time(nullptr), "", record_.name});
  }

  // On rank 0: its name leads to it, and its files stand where programs read them.
  void finish() {
    if (!root_) return;
    record_.manifest = root_->prefixed();
    const auto manifest = store_->manifest(*root_);
    if (!manifest) throw Error(FailureKind::storage, "the new asset is not in the store any more", "run it again");
    record_.files = manifest->totals().files;
    record_.bytes = manifest->totals().bytes;
    if (request_.dry_run) return;
    register_text(settings_, *store_, record_.name, *root_,
                  derived_recipe(recipe_, record_.name, *root_, record_.derivation));
    record_.packed = store_->packed(*manifest);
    if (!record_.packed) record_.path = show_asset(settings_, *store_, record_.name, *root_, stop_);
    if (in_place()) record_.path = replace_tree(*store_, *manifest, request_.in_place);
  }

  void agree_on_end() {
    if (!record_.failures.empty()) record_.exit = exit_code(FailureKind::command);
    const auto failure = agree(comm_, failure_);
    if (failure) throw Error(*failure);
    auto exit = static_cast<std::uint64_t>(record_.exit);
    comm_.all_reduce({&exit, 1}, Reduction::maximum);
    record_.exit = static_cast<int>(exit);
  }

  const CallingSession& caller_;
  const SessionSettings& settings_;
  const ApplyRequest& request_;
  EventSink& events_;
  const std::stop_token stop_;
  const std::unique_ptr<Comm> solo_;
  Comm& comm_;
  Recipe recipe_, scripts_of_;  // the second has the script
  ChosenScript chosen_;
  std::unique_ptr<Store> store_;
  Lease lease_;  // rank 0's, for all
  std::optional<Sha256> input_, root_;
  std::optional<Failure> failure_;
  ApplyRecord record_;
};

}  // namespace

ApplyRecord derive(const CallingSession& caller, const ApplyRequest& request, EventSink& events, std::stop_token stop) {
  return Deriver(caller, request, events, std::move(stop)).run();
}

}  // namespace sabath
