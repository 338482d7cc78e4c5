#include "sabath/verbs/doctor.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "verbs/doctor/examination.h"
#include "verbs/verb.h"

namespace sabath {

std::string_view state_name(Finding::State state) {
  switch (state) {
    case Finding::State::ok:
      return "ok";
    case Finding::State::warn:
      return "warn";
    case Finding::State::fail:
      break;
  }
  return "fail";
}

namespace {

// What is said of a run, and no model is named.
void refuse_without_model(const DoctorRequest& request) {
  const bool said = !request.dataset.empty() || request.launcher != "auto" || !request.site.empty() || request.ranks ||
                    request.nodes || !request.trust.empty();
  if (!request.model.empty() || !said) return;
  throw Error(FailureKind::usage, "ranks, nodes, launcher, site, dataset and trust are of a model, and none is named",
              "name the model that would run here");
}

}  // namespace

DoctorRecord doctor(Session& session, const DoctorRequest& request, EventSink&, std::stop_token stop) {
  Examination examination{session.settings(), request.environment};
  refuse_without_model(request);
  if (request.model.empty()) {
    check_libraries(examination);
    check_machine(examination);
    check_network(examination);
    check_recipes(examination);
    check_store(examination);
  } else {
    check_run(session, request, examination, stop);
  }
  DoctorRecord record{examination.take()};
  const auto failed = std::ranges::find(record.checks, Finding::State::fail, &Finding::state);
  if (failed != record.checks.end()) record.exit = exit_code(failed->kind);
  return record;
}

template <>
struct Described<DoctorRequest> {
  using Of = DoctorRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(model, .help = "whether this model could run here: its needs and its checks, instead of the machine",
                   .option = "for", .value = "MODEL"),
      SABATH_FIELD(dataset, .help = "of --for: what it would run on (default: the recipe's)", .value = "DATASET"),
      SABATH_FIELD(launcher, .help = "of --for: auto, direct, mpirun, srun, flux, or another one of the site profile",
                   .value = "NAME"),
      SABATH_FIELD(site, .help = "of --for: the site profile (default: SABATH_SITE, else by the host's name)",
                   .value = "NAME"),
      SABATH_FIELD(ranks, .help = "of --for: ranks that the run would have", .maximum = 1U << 20U, .value = "N"),
      SABATH_FIELD(nodes, .help = "of --for: nodes that they would be spread over", .maximum = 1U << 20U, .value = "N"),
      SABATH_FIELD(trust, .help = "of --for: start checks of code that is not trusted yet, as of `sabath run`",
                   .words = "once|commit|origin"),
      SABATH_FIELD(environment, .help = "variables of the caller: proxies, launchers and the home are looked at",
                   .hidden = true),
  };
};

template <>
struct WordsOf<Finding::State> {
  static constexpr std::string_view words = "ok|warn|fail";
  static std::string_view text(Finding::State state) { return state_name(state); }
};

template <>
struct Described<Finding> {
  using Of = Finding;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "what was examined"),
      SABATH_FIELD(state, .help = "how it is"),
      SABATH_FIELD(text, .help = "what was found, on one line"),
      SABATH_FIELD(remedy, .help = "what to do; null where all is well", .null_if_empty = true),
  };
};

template <>
struct Described<DoctorRecord> {
  using Of = DoctorRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(checks, .help = "in a fixed order"),
      SABATH_FIELD(exit, .help = "that of the first failure; 0 without one"),
  };
};

std::string to_json(const DoctorRecord& record) { return record_text(record); }

extern constexpr LibraryVerb doctor_call = described<doctor>("doctor");

}  // namespace sabath
