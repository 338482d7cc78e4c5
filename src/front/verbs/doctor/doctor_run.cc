// Whether a model could run here: by the functions by which `run` prepares and checks it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <variant>

#include "base/file.h"
#include "base/wording.h"
#include "harness/assets.h"
#include "harness/conduct.h"
#include "harness/consent.h"
#include "harness/data_code.h"
#include "harness/environment.h"
#include "harness/resolved_run.h"
#include "harness/run_checks.h"
#include "run/commands.h"
#include "run/source_copy.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/verbs/run.h"
#include "session/caller_of.h"
#include "trust/approval.h"
#include "verbs/doctor/examination.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// Warnings become findings; lines of checks are findings anyway.
class WarningsHeard final : public EventSink {
 public:
  explicit WarningsHeard(Examination& findings) : findings_(findings) {}
  void on(const Event& event) override {
    const auto* const warning = std::get_if<event::Warning>(&event);
    if (warning != nullptr && listening) findings_.warn("needs", warning->text, "load or install it before the run");
  }
  bool listening = true;

 private:
  Examination& findings_;
};

// Where a run's directory would be; it is gone with this.
class PassingDirectory {
 public:
  explicit PassingDirectory(const Environment& environment) {
    const std::string below = environment.get("TMPDIR").value_or("");
    const auto status = below.starts_with('/') ? try_stat(below) : std::nullopt;
    std::string name = (status && S_ISDIR(status->st_mode) ? below : "/tmp") + "/sabath-doctor-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw_errno("make a directory like", name, errno);
    path_ = name;
    make_directories(path_ / "work");
  }
  ~PassingDirectory() {
    try {
      remove_tree(path_);
    } catch (const Error&) {}  // a directory of temporary files
  }
  PassingDirectory(const PassingDirectory&) = delete;
  PassingDirectory& operator=(const PassingDirectory&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

RunRequest run_of(const DoctorRequest& request) {
  RunRequest run;
  run.model = request.model;
  run.dataset = request.dataset;
  run.launcher = request.launcher;
  run.site = request.site;
  run.ranks = request.ranks;
  run.nodes = request.nodes;
  run.trust = request.trust;
  run.ask = request.ask;
  run.environment = request.environment;
  return run;
}

// The same question as that of a run, but that nothing is fetched for it.
Consent ask_without_fetch(const RunCall& call, const ResolvedRun& run, const Recipe& recipe,
                          const std::vector<Step>& steps) {
  Consent known = foresee_consent(call.caller.settings, call.request.environment, recipe, steps);
  if (!known.verdict.by.empty()) return known;
  TrustPolicy policy = trust_policy(call.request.trust, call.request.ask,
                                    fmt::format("{} {} {}", verb_text("run"), run.model.name, option_text("trust")));
  if (known.code.commit.empty() && !known.code.fixed) {  // which code it is would be known after a fetch
    policy.said.clear();
    policy.ask = {};
  }
  known.verdict = approve(known.code, trust_registry(call.request.environment), policy);
  return known;
}

// A check may load what a run would load.
void refuse_code_in_data(const RunCall& dry, const ResolvedRun& run, const Consent& consent, RunAssets& assets) {
  if (run.check_steps.empty()) return;
  foresee_data_consent(dry, run, consent, assets);
  for (const RunAsset& asset : assets.all) {
    if (!asset.loads || asset.loads->found.empty() || !asset.loads->by.empty()) continue;
    throw Error(FailureKind::access,
                fmt::format("{} holds code that you have not trusted: {}", asset.name,
                            printable(asset.loads->found.front(), 500)),
                fmt::format("`{} {}` asks about it", verb_text("run"), run.model.name));
  }
}

void tell_environment(const ResolvedRun& run, const RunEnvironment& environment, Examination& findings) {
  if (!run.model.requirements.system_modules.empty() && !environment.modules.empty())
    findings.ok("modules", fmt::format("{}", fmt::join(environment.modules, " ")));
  if (!environment.python.program.empty() && environment.python.missing.empty())
    findings.ok("python", fmt::format("{} {}", environment.python.program, environment.python.version));
}

void tell_checks(const std::vector<CheckResult>& results, Examination& findings) {
  for (const CheckResult& result : results) {
    const std::string name = "check " + result.text();
    const std::string text = result.sentence().substr(name.size() + 2);
    if (result.met()) {
      findings.ok(name, text);
    } else if (result.outcome.state == CheckFound::State::not_asked) {
      findings.warn(name, text, result.outcome.remedy);
    } else {
      findings.fail(name, text, result.outcome.remedy, FailureKind::command);
    }
  }
}

// Throws Error{access} where the code is not trusted.
std::vector<CheckResult> examine(const RunCall& call, const RunCall& dry, const ResolvedRun& run,
                                 WarningsHeard& warnings, Examination& findings) {
  const Variant& variant = run.variants.front();
  const Consent consent = ask_without_fetch(call, run, run.model, run.steps);
  for (const auto& [name, used] : run.used) static_cast<void>(ask_without_fetch(call, run, used, {}));
  const RunEnvironment environment = prepare_environment(call, run, true, foresee_assets(dry, run).packed);
  tell_environment(run, environment, findings);
  warnings.listening = false;
  RunAssets assets = foresee_assets(dry, run);
  refuse_code_in_data(dry, run, consent, assets);
  const PassingDirectory passing(call.request.environment);
  if (uses_source(run.check_steps) && !assets.source.empty()) {
    if (const auto missing = not_fetched_in({assets.source}); !missing.empty()) {
      findings.warn("code", missing + " is not fetched, and checks need it", "fetch it");
    } else {
      copy_source(assets.source, passing.path() / "source", call.stop);
    }
  }
  const std::vector<RunStep> own = check_steps_of(run, variant, assets, environment, passing.path());
  VariableMap variables = own_variables(environment, own, passing.path());
  variables.insert(environment.variables.begin(), environment.variables.end());
  ChecksMade checked;
  run_checks(call, run, environment, variables, passing.path() / "work", own, checked);
  tell_checks(checked.results, findings);
  return checked.results;
}

}  // namespace

void check_run(Session& session, const DoctorRequest& request, Examination& findings, const std::stop_token& stop) {
  const RunRequest asked = run_of(request);
  WarningsHeard warnings(findings);
  const RunCall call{caller_of(session), asked, warnings, stop};
  const RunCall dry{call.caller, asked, warnings, stop, true};
  const ResolvedRun run = resolve_run(call);
  const std::string command = fmt::format("{} {}", verb_text("run"), run.model.name);
  const auto refuse = [&](const std::string& why, const std::string& remedy, FailureKind kind) {
    findings.fail(run.model.name, fmt::format("{} would end with {}: {}", command, exit_code(kind), why), remedy, kind);
  };
  try {
    std::vector<CheckResult> results = examine(call, dry, run, warnings, findings);
    const std::size_t count = results.size();
    const auto unasked = std::erase_if(
        results, [](const CheckResult& one) { return one.outcome.state == CheckFound::State::not_asked; });
    if (const auto failed = unmet(results); !failed.empty()) {
      refuse(fmt::format("{} of {} checks not met: {}", failed.size(), count, fmt::join(failed, ", ")),
             fmt::format("mend that, or go on all the same: {} warn", option_text("checks")), FailureKind::command);
    } else if (unasked > 0) {
      findings.warn(run.model.name,
                    fmt::format("{} would ask {} more checks, of what is not fetched", command, unasked), "fetch it");
    } else {
      findings.ok(run.model.name, fmt::format("{} would be launched: {}", command,
                                              count == 0 ? "its recipe has no checks"
                                                         : fmt::format("{} of {} checks met", count, count)));
    }
  } catch (const Error& error) {
    const Failure& failure = error.failure();
    if (failure.kind == FailureKind::interrupted || failure.kind == FailureKind::terminated) throw;
    refuse(failure.message, failure.hint, failure.kind);
  }
}

}  // namespace sabath
