// The checks of `doctor`. Each function adds its findings; it does not throw because of a finding, and leaves no trace
// on disk. One thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sabath/session_settings.h"
#include "sabath/verbs/doctor.h"

namespace sabath {

class Examination {
 public:
  Examination(const SessionSettings& settings_of_session, const Environment& environment_of_process)
      : settings(settings_of_session), environment(environment_of_process) {}

  void ok(std::string name, std::string text) {
    findings_.push_back({Finding::State::ok, std::move(name), std::move(text), {}});
  }
  void warn(std::string name, std::string text, std::string remedy) {
    findings_.push_back({Finding::State::warn, std::move(name), std::move(text), std::move(remedy)});
  }
  void fail(std::string name, std::string text, std::string remedy, FailureKind kind) {
    findings_.push_back({Finding::State::fail, std::move(name), std::move(text), std::move(remedy), kind});
  }
  [[nodiscard]] std::vector<Finding> take() { return std::move(findings_); }

  const SessionSettings& settings;
  const Environment& environment;

 private:
  std::vector<Finding> findings_;
};

void check_libraries(Examination& findings);  // versions, MPI and its launcher, git
void check_machine(Examination& findings);    // cores, hash rate, descriptors, clock
void check_network(Examination& findings);    // proxies, certificates; opens no connection
void check_recipes(Examination& findings);
void check_store(Examination& findings);  // place, filesystem and its traits, room
// Whether the model of the request could run: what its recipe needs, its checks, and the verdict as the last finding.
// Throws what is wrong with the request.
void check_run(Session& session, const DoctorRequest& request, Examination& findings, const std::stop_token& stop);

}  // namespace sabath
