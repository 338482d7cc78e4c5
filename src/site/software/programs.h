// Programs of PATH, asked for a short time: those that no other account can write or exchange. The others are named and
// not started. One thread. Throws Error{interrupted}.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/environment.h"
#include "sabath/verbs/site.h"
#include "software/owners.h"

namespace sabath {

struct ProgramAnswer {
  bool came = false;  // it ended with 0, in time, within its bound
  std::string out, err;
  std::string program;  // its file; empty: it was not started
  std::string why;      // there is no answer: "srun is not on PATH", "not asked: ...", "it did not end within 2 s"
};

// A Python on a busy login node takes seconds to start; what a module system does not say in two, its files do.
struct Patience {
  std::chrono::seconds with_programs{10}, with_module_systems{2};
};

class Programs {
 public:
  Programs(const Environment& environment, TrustedOwners owners, Patience patience, std::stop_token stop)
      : environment_(environment), owners_(std::move(owners)), patience_(patience), stop_(std::move(stop)) {}

  // argv[0]: a name of PATH, or a path. `changes`: variables on top of the caller's.
  [[nodiscard]] ProgramAnswer ask(std::vector<std::string> argv, const std::map<std::string, std::string>& changes = {},
                                  std::size_t output_max = 1 << 20) {
    return ask_for(patience_.with_programs, std::move(argv), changes, output_max);
  }
  [[nodiscard]] ProgramAnswer ask_module_system(std::vector<std::string> argv,
                                                const std::map<std::string, std::string>& changes,
                                                std::size_t output_max) {
    return ask_for(patience_.with_module_systems, std::move(argv), changes, output_max);
  }
  // The first of PATH with this name. Empty: none, or it may not be started: `why` says so.
  [[nodiscard]] std::filesystem::path find(const std::string& name, std::string& why);
  void pass_over(const std::string& what, const std::string& why);

  [[nodiscard]] const Environment& environment() const noexcept { return environment_; }
  [[nodiscard]] const TrustedOwners& owners() const noexcept { return owners_; }
  [[nodiscard]] const std::stop_token& stop() const noexcept { return stop_; }
  [[nodiscard]] std::vector<PassedOver> take_passed_over() { return std::move(passed_over_); }

 private:
  [[nodiscard]] ProgramAnswer ask_for(std::chrono::seconds patience, std::vector<std::string> argv,
                                      const std::map<std::string, std::string>& changes, std::size_t output_max);
  Environment environment_;
  TrustedOwners owners_;
  Patience patience_;
  std::stop_token stop_;
  std::vector<PassedOver> passed_over_;
};

// The parts between separators, without those that are empty; at most `max`.
[[nodiscard]] std::vector<std::string> parts_between(std::string_view text, char separator, std::size_t max = 10'000);

}  // namespace sabath
