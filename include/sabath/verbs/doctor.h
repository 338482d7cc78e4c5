// A machine, a site and a store, examined; or whether a model could run here. No network connection is opened and
// nothing is left behind; to learn what the store's filesystem can do a few small files are made beside the store for a
// moment. One thread a session. A
// fault is a finding, not an Error.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/environment.h"
#include "sabath/error.h"
#include "sabath/event.h"

namespace sabath {

class Session;

struct DoctorRequest {
  // A model or workflow: instead of the machine, whether it could run here. What its recipe needs, and its checks,
  // which are started: code that is not trusted yet is not, as in RunRequest.
  std::string model;
  std::string dataset;                        // as of the run
  std::string launcher = "auto";              // of parallel checks
  std::string site;                           // the site profile
  std::optional<std::uint64_t> ranks, nodes;  // of the run
  std::string trust;
  std::function<std::string(const std::string& about)> ask;
  Environment environment;  // of the process: proxies, launchers and the home are looked at
};

struct Finding {
  enum class State { ok, warn, fail };
  State state = State::ok;
  std::string name, text;
  std::string remedy;                        // with warn and fail
  FailureKind kind = FailureKind::internal;  // with fail: whose exit code it gives
};

[[nodiscard]] std::string_view state_name(Finding::State state);  // "ok", "warn", "fail"

struct DoctorRecord {
  std::vector<Finding> checks;
  int exit = 0;  // of the first failure; 0 without one
};

[[nodiscard]] DoctorRecord doctor(Session& session, const DoctorRequest& request, EventSink& events,
                                  std::stop_token stop = {});
[[nodiscard]] std::string to_json(const DoctorRecord& record);

}  // namespace sabath
