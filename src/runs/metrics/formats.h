// The formats of logs: each is a constant in a file of its own, and a line of the table in formats.cc.
// Plain values; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "metrics/reading.h"
#include "metrics/trace.h"

namespace sabath {

// How a program that prints the format goes about its lines.
enum class Habit : std::uint8_t {
  any,          // a carriage return may rewrite a line: the last one counts
  whole_lines,  // each line stands for itself, and is told at once
  tells_again,  // a bar comes again with more: what was told of it before is left out
  ends_epochs,  // a full bar ends its epoch; a further one is an evaluation
};

struct LogFormat {
  std::string_view name;     // "keras"
  std::string_view title{};  // what help texts call it: "Keras"; empty: they leave it out
  // What one clean line (no prefix, no colours, no carriage return, not empty) says. A line of another format leaves
  // Kind::none, `reading` and `trace` as they were. `reading` comes cleared. No throw; one thread for each trace.
  void (*read)(std::string_view line, Trace& trace, Reading& reading);
  // Its JSON objects stand behind this word, anywhere in a line. Then `line` is the object, and reading.leaves has it.
  std::string_view mark{};
  Habit habit = Habit::any;
};

// In the order in which they are tried.
[[nodiscard]] std::span<const LogFormat* const> log_formats();

// "MLPerf, Keras, CSV": the titles, for help texts.
[[nodiscard]] std::string log_format_titles();

}  // namespace sabath
