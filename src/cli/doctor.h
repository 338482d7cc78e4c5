// What `sabath doctor` looks at. Each function adds its lines; none throws for what it finds, and none leaves a trace
// on disk. Main thread only.
#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"
#include "sabath/error.h"

namespace sabath::cli {

struct Check {
  enum class State { ok, warn, fail };
  State state = State::ok;
  std::string name, text;
  std::string remedy;                        // with warn and fail
  FailureKind kind = FailureKind::internal;  // with fail: whose exit code it gives
};

class Findings {
 public:
  void ok(std::string name, std::string text) {
    checks_.push_back({Check::State::ok, std::move(name), std::move(text), {}});
  }
  void warn(std::string name, std::string text, std::string remedy) {
    checks_.push_back({Check::State::warn, std::move(name), std::move(text), std::move(remedy)});
  }
  void fail(std::string name, std::string text, std::string remedy, FailureKind kind) {
    checks_.push_back({Check::State::fail, std::move(name), std::move(text), std::move(remedy), kind});
  }
  [[nodiscard]] const std::vector<Check>& checks() const { return checks_; }

 private:
  std::vector<Check> checks_;
};

void check_libraries(const Context& context, Findings& findings);  // versions, MPI and its launcher, git
void check_machine(const Context& context, Findings& findings);    // cores, hash rate, descriptors, clock
void check_network(const Context& context, Findings& findings);    // proxies, certificates; opens no connection
void check_recipes(const Context& context, Findings& findings);
void check_store(const Context& context, Findings& findings);  // place, filesystem and its traits, room

[[nodiscard]] int exit_of(const Findings& findings);  // of the first failure; 0 without one

}  // namespace sabath::cli
