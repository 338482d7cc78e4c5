// Derived assets: a recipe's supporting script, or a built-in one, makes a new asset of one that is here.
// docs/apply.md.
//
// The new asset's name and ref are made from a key: the hash of the input's root, the script, its arguments and the
// versions of its tools. So the same call again finds it, and does no work. The input's bytes are never changed.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/environment.h"
#include "sabath/error.h"
#include "sabath/event.h"
#include "sabath/supporting.h"

namespace sabath {

class Session;

struct SupportingRequest {
  std::string name;  // of an asset; empty: the built-in scripts alone
};

struct ListedScript {
  SupportingScript script;
  bool built_in = false;
  std::map<std::string, std::string> tools;  // of a built-in script: versions that its keys name
};

struct SupportingRecord {
  std::string name;
  std::vector<ListedScript> scripts;  // the recipe's, in its order, then the built-in ones
  int exit = 0;
};

// One thread a session. Throws Error{not_found}, Error{invalid}.
[[nodiscard]] SupportingRecord supporting(Session& session, const SupportingRequest& request, EventSink& events,
                                          std::stop_token stop = {});
[[nodiscard]] std::string to_json(const SupportingRecord& record);

struct ApplyRequest {
  std::string name;                      // the asset that is the input; fetched, if the store lacks it
  std::string script;                    // its id
  std::vector<std::string> arguments;    // "KEY=VALUE"; num_threads=N: as `threads`
  std::string as;                        // a name for the new asset; empty: NAME+SCRIPT-KEY
  std::filesystem::path in_place;        // a tree of the input outside the store, which becomes one of the new asset
  std::optional<std::uint64_t> threads;  // files at once, of each rank; 1024 at most; absent: 1
  std::uint64_t memory_bytes = 0;        // address space of each process of a foreign script; 0: no bound
  std::chrono::seconds time{0};          // for each start of a foreign script; 0: no bound
  bool no_fetch = false;                 // an input that is not here is an error
  bool force = false;                    // do the work again, even if it was done
  bool dry_run = false;                  // say the key, and whether it is there; touch nothing
  Environment environment;               // what foreign scripts start from
  // A script that is not trusted yet: as in RunRequest (sabath/verbs/run.h).
  std::string trust;
  std::function<std::string(const std::string& about)> ask;
};

struct ApplyFailure {
  std::string path;  // of the input file; empty: of the asset
  Failure failure;
  std::vector<std::string> last_lines;  // that the script printed
  std::optional<int> exit, signal;      // of the script
};

struct ApplyRecord {
  std::string name, manifest;  // of the new asset; "sha256:<hex>"; empty: there is none
  std::filesystem::path path;  // of its view, or of the tree in place
  DerivationStep derivation;
  std::vector<std::string>
      command;                  // as it ran, or would run, for the first file; of a built-in one: `sabath apply ...`
  bool was_there = false;       // the key was known, and all of it is here
  bool packed = false;          // its files stand in packs, and there is no view
  std::uint64_t inputs = 0;     // files that the script reads
  std::uint64_t processed = 0;  // of them in this call, by all ranks
  std::uint64_t resumed = 0;    // that earlier calls had finished
  std::uint64_t files = 0, bytes = 0;  // of the new asset
  unsigned ranks = 1, threads = 1;
  double seconds = 0;
  std::vector<ApplyFailure> failures;
  int exit = 0;
};

// With ranks: collective; the files are dealt to them, and every rank's record has the same exit code; rank 0's has the
// rest. Throws Error{not_found}, Error{usage}, Error{offline}, Error{access} (foreign code that is not trusted),
// Error{interrupted}, Error{space}, Error{storage}. Failures of single files are in the record.
[[nodiscard]] ApplyRecord apply(Session& session, const ApplyRequest& request, EventSink& events,
                                std::stop_token stop = {});
[[nodiscard]] std::string to_json(const ApplyRecord& record);

}  // namespace sabath
