// Events that the library emits while it works. Core code never prints: the program renders its events.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sabath/metric.h"

namespace sabath {

// Why bytes are not moved again: these very sources gave them before; another source or asset did; another object holds
// the same chunk; an earlier try left them, or another process brings them.
enum class Reuse : std::uint8_t { source, content, chunk, partial };
using ReusedBytes = std::array<std::uint64_t, 4>;  // by level

namespace event {
struct AssetStarted {
  std::string name;
  std::optional<std::uint64_t> bytes_total;
  std::uint64_t files_total = 0;
};
struct TotalKnown {
  std::optional<std::uint64_t> bytes_total;
  std::uint64_t files_total = 0;
};  // replaces the earlier estimate
struct SizeLearnt {
  std::uint64_t bytes = 0;
};  // of one file, from its source: the recipe did not say
struct BytesReceived {
  std::uint32_t source = 0;
  std::uint64_t bytes = 0;
};  // payload on the wire
struct BytesReused {
  std::uint64_t bytes = 0;
  Reuse level = Reuse::source;
  bool by_others = false;  // ranks of this job: not shown, as they show it themselves
};                         // not moved again
struct BytesKept {
  std::int64_t bytes = 0;
};  // that an earlier try left of a file under way; negative: taken back, because BytesReused follows or they were
    // wrong
struct SourceNamed {
  std::uint32_t source = 0;
  std::string url;
};  // precedes its BytesReceived
struct SourceFailed {
  std::uint32_t source = 0;
  std::string reason;
  bool demoted = false;
};
struct HostPaused {
  std::string host;
  double seconds = 0;
};  // the host has asked for a pause, and is waited for
struct FileDone {
  std::string path;
  std::uint64_t bytes = 0;
};
struct PhaseChanged {
  std::string phase;
};  // "resolve", "fetch", "extract", "publish", "verify"
struct Note {
  std::string text;
};  // shown with -v
struct Warning {
  std::string text;
};  // always shown
struct Message {
  std::string text;
};  // shown, but not where quiet is wanted
struct AssetFinished {
  std::string name;
};

// Of sabath/verbs/serve.h, when it listens.
struct ServeStarted {
  std::string url;   // as recipes name it
  std::string host;  // an address or a name of this machine
  std::uint16_t port = 0;
  std::string store;
};

// Of sabath/verbs/run.h, from the thread that called it.
struct RunStarted {
  std::string model, directory;
  std::optional<std::uint64_t> epochs;  // how many there will be, if the settings say so
};
struct MetricRead {
  Metric metric;
};
struct OutputRead {
  std::string_view bytes;  // what the programs printed; valid during on()
};
struct RunTick {};  // some times a second while the programs run
struct RunEnded {
  std::string model, directory, program;  // the last program that was started
  double seconds = 0;
  std::uint64_t metrics = 0, not_understood = 0;  // values read; lines that look like values and are none
  bool stopped = false;                           // by a stop request
  std::optional<int> exit, signal;                // of the program
  std::vector<std::string> last_lines;            // that it printed
  std::uint64_t unwritten_lines = 0;              // that the disk of `directory` did not take ...
  std::string unwritten_why;                      // ... and why
};
}  // namespace event

using Event = std::variant<event::AssetStarted, event::TotalKnown, event::SizeLearnt, event::BytesReceived,
                           event::BytesReused, event::BytesKept, event::SourceNamed, event::SourceFailed,
                           event::HostPaused, event::FileDone, event::PhaseChanged, event::Note, event::Warning,
                           event::Message, event::AssetFinished, event::ServeStarted, event::RunStarted,
                           event::MetricRead, event::OutputRead, event::RunTick, event::RunEnded>;

// One object, {"event": "BytesReceived", ...}: the members above under their names.
[[nodiscard]] std::string to_json(const Event& event);

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on(const Event& event) = 0;  // called from any thread
};

class NoEvents final : public EventSink {  // for calls without a listener
 public:
  void on(const Event&) override {}
};

}  // namespace sabath
