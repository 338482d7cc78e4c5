// One command of the story, and a server that stays: both end with this process, even if it is killed. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "demo/surroundings.h"
#include "run/guarded_process.h"

namespace sabath::demo {

struct StepResult {
  int exit = 0;
  std::string out;  // the first mebibyte
};

using OnText = std::function<void(std::string_view)>;

// Runs argv to its end. What it prints on standard error goes to `on_error` as it comes. Throws Error{interrupted}
// after a stop request, when nothing of it is left; Error{command} if it cannot be started.
[[nodiscard]] StepResult run_step(const std::vector<std::string>& argv, const Surroundings& surroundings,
                                  const OnText& on_error);

// A number in a record that a command printed; of a list on the way the first element. Throws Error{invalid}.
[[nodiscard]] std::uint64_t number_in(const std::string& record, const std::vector<std::string_view>& keys);

// `sabath serve` of a store, on a free port of loopback.
class Origin {
 public:
  // Returns when it listens. Throws Error{command} with what it said if it does not, Error{interrupted}.
  Origin(const std::filesystem::path& store, const Surroundings& surroundings);
  [[nodiscard]] const std::string& url() const { return url_; }  // sabath://127.0.0.1:PORT
  // Ends it, and returns how many bytes of content it has given, by its own record.
  [[nodiscard]] std::uint64_t stop();

 private:
  std::stop_token stop_;
  std::unique_ptr<GuardedProcess> process_;
  std::string url_;
};

}  // namespace sabath::demo
