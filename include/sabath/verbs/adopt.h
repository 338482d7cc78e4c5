// Data that is on disk already, known to the session's store without being copied: docs/store.md, "Adopted files".
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/error.h"
#include "sabath/event.h"

namespace sabath {

class Session;

struct AdoptionRequest {
  std::filesystem::path directory = {};  // its files stay where they are
  std::string name = {};  // of the asset; not empty: all who use the store know it by this name from now on
  unsigned threads = 0;   // that read and hash, 1024 at most; 0: one a core
};

struct AdoptionRecord {
  std::string manifest;             // the root, "sha256:<hex>"
  std::filesystem::path directory;  // without symlinks
  std::uint64_t files = 0, bytes = 0;
  std::string recipe;    // the text of a recipe file; empty: no name, or a recipe of a directory pins this very root
  std::string known_by;  // the file of the recipe that gives the name this root; empty: another recipe has the name
  std::filesystem::path path;  // the view, where a fetch would make one; empty: none
  int exit = 0;
};

// Reads and hashes each file once. One thread calls; the store is made if it is not there. Throws Error{content} if the
// name means another root, Error{invalid} for what no asset can hold, Error{changed} for a file that is being written,
// Error{usage} for a directory that holds the store or lies in it, Error{interrupted}, Error{space}, Error{storage}.
[[nodiscard]] AdoptionRecord adopt(Session& session, const AdoptionRequest& request, EventSink& events,
                                   std::stop_token stop = {});
[[nodiscard]] std::string to_json(const AdoptionRecord& record);

// A cache of Hugging Face's hub, or the folder of one repository in it (docs/huggingface.md): each revision becomes an
// asset, by a name of its own. No file is copied, and each is compared with the hash that is its blob's name.
struct HubAdoptionRequest {
  std::filesystem::path directory = {};
  unsigned threads = 0;  // as above
};

struct AdoptedRepository {
  std::string name;        // of the asset
  std::string repository;  // "datasets/OWNER/NAME"
  std::string commit, revision;
  std::string manifest;  // the root, "sha256:<hex>"
  std::uint64_t files = 0, bytes = 0;
  std::uint64_t unchecked = 0;     // files whose names in the cache are no hash
  std::optional<Failure> failure;  // it is not in the store
};

struct HubAdoptionRecord {
  std::filesystem::path directory;
  std::vector<AdoptedRepository> assets;
  int exit = 0;  // of the first failure
};

// As adopt(); a revision that fails stands with its failure in the record, and the others are adopted all the same.
[[nodiscard]] HubAdoptionRecord adopt_hub(Session& session, const HubAdoptionRequest& request, EventSink& events,
                                          std::stop_token stop = {});
[[nodiscard]] std::string to_json(const HubAdoptionRecord& record);

}  // namespace sabath
