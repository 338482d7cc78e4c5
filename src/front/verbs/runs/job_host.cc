#include "verbs/runs/job_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/wording.h"
#include "holdings/holding.h"
#include "hosts/host_call.h"
#include "recipe/catalogue.h"
#include "recipe/parse.h"
#include "run/commands.h"
#include "sabath/comm.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/session.h"
#include "session/caller_of.h"
#include "verbs/runs/job_fields.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// Of the request's keys those that are of this side only, or go along in another way.
constexpr const char* keys_of_this_side[] = {"host", "environment", "trust", "lock"};

std::string request_text(const JobRequest& request) {
  Json json = Json::object();
  write_fields(Described<JobRequest>::table, &request, json);
  for (const char* key : keys_of_this_side) json.erase(key);
  for (auto member = json.begin(); member != json.end();) {
    const Json& value = *member;
    const bool says_nothing = value.is_null() || value == false || value == "" || (value.is_array() && value.empty());
    member = says_nothing ? json.erase(member) : std::next(member);
  }
  return text_of(json);
}

class SentAssets {
 public:
  SentAssets(const Catalogue& catalogue, const RunRequest& request) : catalogue_(catalogue), request_(request) {}

  // What the model's recipe is here, and what it runs on and uses. None: the other side must know it.
  [[nodiscard]] std::vector<SentRecipe> find() {
    const auto model = find_model();
    if (!model || !add("model", *model)) return {};
    const RunSets& sets = request_.mode == "infer" ? model->infer : model->run;
    if (const auto dataset = dataset_of(*model, sets)) add(request_.dataset.empty() ? "" : "dataset", *dataset);
    for (const auto& [name, steps] : sets) {
      for (const std::string& used : asset_names(steps)) {
        if (const auto recipe = known([&] { return std::optional(catalogue_.used_by(*model, used)); }))
          add("", *recipe);
      }
    }
    if (!request_.from.empty()) {
      if (const auto from = catalogue_.try_find(request_.from, std::nullopt)) add("from", *from);
    }
    return std::move(sent_);
  }

 private:
  // What this side does not know the other side may know.
  template <typename Find>
  [[nodiscard]] static std::optional<Recipe> known(Find find) {
    try {
      return find();
    } catch (const Error& error) {
      if (error.failure().kind != FailureKind::not_found) throw;
      return std::nullopt;
    }
  }

  [[nodiscard]] std::optional<Recipe> find_model() const {
    if (auto model = catalogue_.try_find(request_.model, AssetKind::model)) return model;
    return catalogue_.try_find(request_.model, AssetKind::workflow);
  }

  [[nodiscard]] std::optional<Recipe> dataset_of(const Recipe& model, const RunSets& sets) const {
    if (request_.dataset.empty()) return known([&] { return catalogue_.dataset_of(model, sets); });
    return catalogue_.try_find(request_.dataset, AssetKind::dataset);
  }

  bool add(const std::string& role, const Recipe& recipe) {
    if (catalogue_.is_held(recipe)) return false;
    const auto text = try_read_text(recipe.origin, recipe_size_max);
    if (!text) return false;
    // By the name in its file: one of a subscribed catalogue has another one here.
    const Recipe written = parse_recipe(*text, recipe.origin, recipe.kind);
    const std::string kind(kind_name(written.kind));
    const bool known = std::ranges::any_of(
        sent_, [&](const SentRecipe& other) { return other.kind == kind && other.name == written.name; });
    if (known) return true;
    if (sent_.size() == sent_recipes_max) {
      throw Error(FailureKind::usage, fmt::format("{} uses more than {} recipes", request_.model, sent_recipes_max),
                  "copy them to the other machine, and start the job there");
    }
    sent_.push_back({role, kind, written.name, sha256(*text).prefixed(), *text});
    return true;
  }

  const Catalogue& catalogue_;
  const RunRequest& request_;
  std::vector<SentRecipe> sent_;
};

std::string lock_text(const fs::path& run) {
  const auto status = try_stat(run);
  const fs::path file = status && S_ISDIR(status->st_mode) ? run / "run.json" : run;
  auto text = try_read_text(file, sent_lock_bytes_max);
  if (text) return std::move(*text);
  throw Error(FailureKind::not_found, fmt::format("there is no record of a run at {}", printable(file.native(), 1000)),
              "name the directory of a run on this side, or its run.json");
}

}  // namespace

JobRecord work_on_job_of_host(Session& session, const JobRequest& request, EventSink& events,
                              const std::stop_token& stop) {
  if (const Comm* ranks = session.ranks(); ranks != nullptr && ranks->size() > 1)
    throw Error(FailureKind::usage, "a login node is called by one process, not by ranks");
  const SessionSettings& settings = session.settings();
  HostLogin login{
      .host = request.host, .configuration = settings.fetchers.ssh.config, .at_terminal = bool(request.run.ask)};
  if (const auto named = settings.job_programs.find(request.host); named != settings.job_programs.end())
    login.program = named->second;
  refuse_odd_login(login);
  if (!request.run.trust.empty()) {
    throw Error(FailureKind::usage, fmt::format("whether code may run on {} is decided there", request.host),
                fmt::format("leave {} out: what must be trusted is named, with what to type on that side",
                            option_text("trust")));
  }
  HostCall call;
  call.version = SABATH_VERSION;
  call.request_text = request_text(request);
  call.subject = request.run.model;
  const bool asks = request.status || request.cancel || (request.wait && !request.submit);
  if (!asks) {
    const Catalogue catalogue = make_catalogue(settings);
    call.recipes = SentAssets(catalogue, request.run).find();
    if (!request.run.lock.empty()) call.lock = lock_text(request.run.lock);
  }
  JobRecord record = call_host(login, call, request.run.environment, events, stop);
  record.host = request.host;
  return record;
}

}  // namespace sabath
