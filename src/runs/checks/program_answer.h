// A program that is asked something, with bounds: it and all that it starts are ended after its time, and of what it
// prints the first bytes are kept. Starts a guardian. One thread. Throws Error{interrupted} on a stop request.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "run/environment.h"

namespace sabath {

constexpr std::size_t answer_bytes_kept = 64 << 10;  // of each stream

struct CheckAsked {
  std::vector<std::string> argv;  // argv[0] is looked up in the PATH of `environment`
  const VariableMap& environment;
  std::filesystem::path directory, companion;
  std::chrono::milliseconds patience = std::chrono::seconds(10);
  std::size_t keep = answer_bytes_kept;
};

struct CheckAnswer {
  std::string out, err;
  std::string not_started;  // why; empty: it was started
  int exit = 0, signal = 0;
  bool late = false;  // it was ended after its time
  bool cut = false;   // it printed more than is kept: of that the last line is not whole, and left out
  [[nodiscard]] bool good() const { return not_started.empty() && !late && exit == 0; }
};

[[nodiscard]] CheckAnswer ask_program(const CheckAsked& asked, const std::stop_token& stop);

// What went wrong, on one line for people: "ended by signal 9", "exit status 3: its last line". Empty: nothing.
[[nodiscard]] std::string trouble_of(const CheckAnswer& answer, const CheckAsked& asked);

// Calls `take` with each line, without its end.
template <typename Take>
void for_each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    take(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace sabath
