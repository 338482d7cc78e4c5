// The story of `sabath demo`: universes are made, served, fetched from two mirrors, verified, fetched again, staged to
// pretended nodes, and a small model is trained on them. Each command is a process of this program, as a person would
// type it. All that is made stands in one directory, and no process is left, however this one ends. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::demo {

struct DemoRequest {
  std::filesystem::path directory;                // is made; if it is there, it is empty
  std::filesystem::path program;                  // sabath itself
  std::map<std::string, std::string> variables;   // of the caller's environment
  std::function<void(std::string_view)> on_text;  // the story, and what the commands print, as it comes
};

struct DemoStep {
  std::string command;
  int exit = 0;
  double seconds = 0;
};

struct DemoRecord {
  std::filesystem::path directory;
  std::size_t universes = 0;
  std::uint64_t bytes = 0;          // of the universes
  std::uint64_t fetched_bytes = 0;  // by the record of the first fetch
  std::uint64_t served_bytes = 0;   // by the records of the two servers
  std::uint64_t again_bytes = 0;    // by the record of the second fetch
  std::size_t nodes = 0;            // pretended ones that were staged to, each compared with what was made
  std::uint64_t bytes_from_shared = 0, bytes_from_peers = 0;  // by the record of stage
  std::string launcher;                                       // that started the ranks; empty: one rank, without
  std::filesystem::path figure;                               // empty: the training was left out
  std::map<std::string, std::string> left_out;                // what, and why
  std::vector<DemoStep> steps;
  double seconds = 0;
};

// Throws Error{usage} if the directory has content, Error{command} if a command fails, Error{interrupted}; and what
// writing files throws.
[[nodiscard]] DemoRecord tell(const DemoRequest& request, const std::stop_token& stop);

[[nodiscard]] nlohmann::ordered_json json_of(const DemoRecord& record);

}  // namespace sabath::demo
