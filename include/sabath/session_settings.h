// Settings of a Session. Plain values, but for functions that are asked when bytes are to move; sabath/configuration.h
// makes them as the command line does.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sabath/fetcher.h"
#include "sabath/host_rule.h"

namespace sabath {

// When the batch system or container will end this process.
struct Deadline {
  std::chrono::system_clock::time_point at;
  std::string by;  // who says so: "deadline", "SLURM_JOB_END_TIME"
};

struct SessionSettings {
  std::filesystem::path store;                                // made on first use
  bool store_in_home = false;                                 // the default, and below the home directory
  std::vector<std::filesystem::path> other_stores;            // read where `store` lacks something, in order
  std::vector<std::uint32_t> trusted_owners;                  // user ids, besides this user's and root
  std::vector<std::filesystem::path> roots;                   // trees of the original's layout
  std::vector<std::filesystem::path> recipe_directories;      // searched in order
  std::vector<std::filesystem::path> recipe_homes;            // for new recipes: the first that can be written
  std::vector<std::pair<std::string, std::string>> rewrites;  // URL prefix -> prefix, first match wins
  std::vector<HostRule> host_rules;                           // besides those of recipes; the least of all holds
  bool offline = false;                                       // open no socket
  std::string hash_kernel = "auto";                           // of this process: the quickest, or one by name
  FetcherSettings fetchers;
  // Of each call; of all its ranks and nodes together.
  unsigned lanes = 0;                     // connections at most, 0: as many as help
  std::uint64_t limit_rate = 0;           // bytes a second, 0: none
  std::string job;                        // of the batch system: tells others who uses the store
  std::vector<std::string> local_places;  // what StageRequest::to means by "auto", in the order in which it is tried
  std::map<std::string, std::string> job_programs;  // LOGIN -> how `sabath` is called there, for jobs of that host
  // The program `sabath`, which the library starts for what it must not do in the process of a host: to read HDF5
  // files, and to watch over what it runs. Empty: it lies beside the library.
  std::filesystem::path program;
  // Asked only when something is to move; may be empty.
  std::function<std::optional<Deadline>()> deadline;
  std::function<std::vector<Credential>()> credentials;  // those whose end is known
};

}  // namespace sabath
