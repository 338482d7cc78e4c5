// `job` as another machine asks for it: what the call says is a stranger's until it is refused or done.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text.h"
#include "base/wording.h"
#include "holdings/holding.h"
#include "hosts/host_answer.h"
#include "hosts/sent_recipes.h"
#include "recipe/parse.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/session.h"
#include "verbs/runs/job_fields.h"
#include "verbs/runs/job_host.h"
#include "verbs/runs/job_places.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

class AnsweredCall {
 public:
  AnsweredCall(AnsweringSide side, HostAnswer& answer) : side_(std::move(side)), answer_(answer) {}

  [[nodiscard]] JobRecord perform(const HostCall& call) {
    read_request(call);
    refuse_files_of_call(request_, call, side_.settings);
    take_documents(call);
    Session session(side_.settings);
    try {
      return work(session);
    } catch (const Error& error) {
      if (error.failure().kind != FailureKind::access || asked_about_.empty()) throw;
      throw Error(FailureKind::access, error.failure().message,
                  fmt::format("{}look at it, then type on this side: {} {}", asked_about_, verb_text("trust add"),
                              shell_word(request_.run.model)));
    }
  }

 private:
  void read_request(const HostCall& call) {
    JsonObject object(call.request, "the request", "the request", FailureKind::usage);
    for (const char* key : keys_not_sent) {
      if (object.find(key) == nullptr) continue;
      throw Error(FailureKind::usage, fmt::format("a call from another machine does not say its {}", key),
                  "it is this side's, or goes along in another way");
    }
    request_ = request_in<JobRequest>(object);
    request_.run.environment = side_.environment;
    request_.run.ask = [this](const std::string& about) {
      asked_about_ = about;
      return std::string();
    };
  }

  void take_documents(const HostCall& call) {
    if (call.recipes.empty() && !call.lock) return;
    const fs::path state = side_.environment.base_directory("XDG_STATE_HOME", ".local/state");
    if (state.empty())
      throw Error(FailureKind::storage, "no home directory is known here, into which what was sent could be written");
    const fs::path home = state / "sabath/sent";
    if (call.lock) request_.run.lock = lock_.emplace(home, *call.lock).file();
    if (call.recipes.empty()) return;
    check_sent(call.recipes);
    PlacedRecipes placed;
    if (!has_all(make_catalogue(side_.settings), call.recipes)) {
      refuse_code_beside(call);
      placed = place_sent(home, call.recipes);
      search_in(placed.directory);
    }
    for (std::size_t i = 0; i < call.recipes.size(); ++i) {
      const SentRecipe& sent = call.recipes[i];
      const std::string here = placed.files.empty() ? sent.name : placed.files[i].string();
      if (sent.role == "model") request_.run.model = here;
      if (sent.role == "dataset") request_.run.dataset = here;
      if (sent.role == "from") request_.run.from = here;
    }
  }

  static void refuse_code_beside(const HostCall& call) {
    for (const SentRecipe& sent : call.recipes) {
      const Recipe recipe = parse_recipe(sent.text, sent.name, *try_parse_kind(sent.kind));
      if (!recipe.source) continue;
      throw Error(FailureKind::usage,
                  fmt::format("the code of {} lies beside its recipe, and only recipes are sent; here is no recipe, or "
                              "another one, of it or of what it uses",
                              sent.name),
                  "copy recipe and code into a directory of recipes on this side, or name a git repository in the "
                  "recipe");
    }
  }

  // In the job as well.
  void search_in(const fs::path& directory) {
    side_.settings.recipe_directories.push_back(directory);
    std::string& searched = request_.run.environment.variables["SABATH_RECIPES"];
    searched += (searched.empty() ? "" : ":") + directory.string();
  }

  // The caller learns where the job is as soon as it is submitted: the connection may break while it waits.
  [[nodiscard]] JobRecord work(Session& session) {
    JobRequest first = request_;
    if (first.submit) first.wait = false;
    JobRecord submitted = work_on_job(session, first, answer_, answer_.stop());
    if (!request_.submit || !request_.wait || submitted.ids.empty() || submitted.exit != 0) return submitted;
    answer_.submitted(to_json(submitted));
    JobRequest then;
    then.run.model = submitted.directory.string();
    then.run.environment = request_.run.environment;
    then.wait = true;
    JobRecord waited = work_on_job(session, then, answer_, answer_.stop());
    waited.scripts = std::move(submitted.scripts);
    return waited;
  }

  AnsweringSide side_;
  std::optional<PlacedLock> lock_;
  HostAnswer& answer_;
  JobRequest request_;
  std::string asked_about_;
};

}  // namespace

int answer_job_call(const AnsweringSide& side, const std::stop_token& stop) {
  HostAnswer answer(side.in, side.out, stop);
  try {
    const JobRecord record = AnsweredCall(side, answer).perform(answer.read_call());
    answer.done(to_json(record));
    return record.exit;
  } catch (const Error& error) {
    const int code = exit_code(error.failure().kind);
    answer.failed(error.failure(), code);
    return code;
  }
}

}  // namespace sabath
