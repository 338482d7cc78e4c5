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

DoctorRecord doctor(Session& session, const DoctorRequest& request, EventSink&, std::stop_token) {
  Examination examination{session.settings(), request.environment};
  check_libraries(examination);
  check_machine(examination);
  check_network(examination);
  check_recipes(examination);
  check_store(examination);
  DoctorRecord record{examination.take()};
  const auto failed = std::ranges::find(record.checks, Finding::State::fail, &Finding::state);
  if (failed != record.checks.end()) record.exit = exit_code(failed->kind);
  return record;
}

template <>
struct Described<DoctorRequest> {
  using Of = DoctorRequest;
  static constexpr Field table[] = {
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
