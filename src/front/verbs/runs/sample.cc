#include "sabath/verbs/sample.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "machine/machine.h"
#include "run/sampler.h"
#include "sabath/error.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

constexpr std::chrono::milliseconds looked_at{300};  // between two looks at the process

// Waits until the process has ended; a later process of the same number has another start time.
void wait_for_end(pid_t process, const Origin& origin, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    wake.wait_for(lock, stop, looked_at, [] { return false; });
    const auto now = try_origin(process);
    if (!now || now->start != origin.start) return;
  }
}

// A name that a file may have.
std::string name_of_node(const std::string& given) {
  return node_name([&](const std::string&) { return given.empty() ? std::nullopt : std::optional(given); });
}

}  // namespace

SampleRecord sample_node(Session&, const SampleRequest& request, EventSink&, std::stop_token stop) {
  if (request.directory.empty())
    throw Error(FailureKind::usage, "where the samples go is not said", "name a directory");
  if (request.process > std::numeric_limits<pid_t>::max())
    throw Error(FailureKind::usage, fmt::format("there is no process {}", request.process));
  make_directories(request.directory);
  const std::string node = name_of_node(request.node);
  SampleRecord record{.file = request.directory / (node + ".jsonl")};
  const auto process = static_cast<pid_t>(request.process);
  const auto origin = try_origin(process);
  if (!origin) return record;
  const Fd fd = open_file(record.file, O_WRONLY | O_CREAT | O_APPEND);
  {
    const auto write = [&](std::string_view line) {
      const std::string text = std::string(line) + "\n";
      write_all(fd.get(), std::as_bytes(std::span(text)), record.file);
      ++record.samples;
    };
    Sampler sampler(write, node, AcceleratorProbe(request.programs));
    if (origin->parent > 1) sampler.watch(origin->parent);  // the run's other ranks on this node are its siblings
    wait_for_end(process, *origin, stop);
  }
  return record;
}

template <>
struct Described<SampleRequest> {
  using Of = SampleRequest;
  static constexpr Field table[] = {
      SABATH_FIELD_AS("to", directory, .help = "directory for the samples, a file NODE.jsonl for each node",
                      .required = true, .value = "DIR"),
      SABATH_FIELD(process, .help = "sample until this process has ended", .maximum = 1U << 30U, .required = true,
                   .value = "PID"),
      SABATH_FIELD(node, .help = "what this node is called; absent: its host name", .hidden = true),
      SABATH_FIELD(programs, .help = "where nvidia-smi and its like are looked for, as PATH has it", .hidden = true),
  };
};

template <>
struct Described<SampleRecord> {
  using Of = SampleRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(file, .help = "where the samples are"),
      SABATH_FIELD(samples, .help = "how many were added; 0: there was no such process"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const SampleRecord& record) { return record_text(record); }

extern constexpr LibraryVerb sample_call = described<sample_node>("sample");

}  // namespace sabath
