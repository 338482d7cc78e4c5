// The use of this node while a program runs: processors, memory, disks, network, accelerators. It is a JSON object a
// line (docs/runs.md), ever rarer until there is one in ten seconds. Any thread; the caller waits until the program has
// ended, or a stop is requested. Throws Error{usage}, Error{storage}, Error{space}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

#include "sabath/event.h"

namespace sabath {

class Session;

struct SampleRequest {
  std::filesystem::path directory;  // made; the lines are added to its file NODE.jsonl
  std::uint64_t process = 0;        // samples until it has ended; what its parent started besides counts as the run
  std::string node;                 // what this node is called; empty: its host name
  std::string programs = "/usr/bin:/bin";  // where nvidia-smi and its like are looked for, as PATH has it
};

struct SampleRecord {
  std::filesystem::path file;
  std::uint64_t samples = 0;  // 0: there was no such process
  int exit = 0;
};

[[nodiscard]] SampleRecord sample_node(Session& session, const SampleRequest& request, EventSink& events,
                                       std::stop_token stop = {});
[[nodiscard]] std::string to_json(const SampleRecord& record);

}  // namespace sabath
