// The modules of another run, as the lock of this one. One thread. Throws Error{usage}, Error{not_found},
// Error{invalid}, Error{storage}.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sabath/digest.h"

namespace sabath {

struct RunCall;
struct Site;

struct ModuleLock {
  std::string run, path, digest;      // the other run's id, its record, and the digest of that
  std::vector<std::string> recorded;  // what it loaded
  std::vector<std::string> modules;   // what is the same here, in the order of loading
  std::string text;                   // of the record
  std::string packed{};               // the packed environment in which it ran; empty: none
  std::optional<Sha256> packed_root{};
};

// Of a run, or of its directory: the record. Absolute.
[[nodiscard]] std::filesystem::path record_of_lock(const std::filesystem::path& asked);
// The record names software and no file: what is loaded is chosen among what this site's profile has.
[[nodiscard]] ModuleLock read_module_lock(const RunCall& call, const Site& site);
[[nodiscard]] nlohmann::ordered_json to_json(const ModuleLock& lock);  // for run.json

}  // namespace sabath
