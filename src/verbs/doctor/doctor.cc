#include "sabath/doctor.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fields/request.h"
#include "verbs/doctor/examination.h"
#include "verbs/records.h"
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

Json json_of(const DoctorRecord& record) {
  Json json{{"schema", 1}, {"checks", Json::array()}, {"exit", record.exit}};
  for (const Finding& check : record.checks) {
    json["checks"].push_back({{"name", check.name},
                              {"state", state_name(check.state)},
                              {"text", check.text},
                              {"remedy", text_or_null(check.remedy)}});
  }
  return json;
}

std::string to_json(const DoctorRecord& record) { return text_of(json_of(record)); }

Json call_doctor(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const DoctorRequest asked{environment_in(request)};
  request.finish();
  return json_of(doctor(session, asked, events, std::move(stop)));
}

}  // namespace sabath
