// A selection of an asset's HDF5 files, made once for a whole job. The members share the files out, each makes its own
// into its node's store, and all learn the manifest of the result. From there on it is an asset like any other, which
// only its makers have. docs/staging.md, "Selections".
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "hdf5/own_process.h"
#include "manifest/manifest.h"
#include "sabath/comm.h"
#include "sabath/verbs/stage.h"
#include "stage/beat.h"
#include "store/store.h"

namespace sabath {

struct Derived {
  std::string bytes;             // the manifest's file; empty if it failed somewhere
  std::uint64_t read_bytes = 0;  // by this member, from the shared store
  unsigned makers = 0;           // members that read it
  std::optional<Failure> failure;
};

class Derivation {
 public:
  // `shared`: nullptr if this member does not see it; then it makes nothing. The request's selections are well formed.
  Derivation(const StageRequest& request, const Manifest& asset, Store* shared, Store& own, Hdf5 hdf5);

  // Names this selection of this asset in a store's refs.
  [[nodiscard]] Sha256 key() const;
  // Collective. The manifest that some member's store knows by an earlier job, on all of them; empty: none does.
  [[nodiscard]] std::string recall(Comm& members) const;
  // Collective. Makes it; every file comes to be in one member's store.
  [[nodiscard]] Derived make(Comm& members, Beat& beat, const std::stop_token& stop);
  void remember(const Sha256& root) const;  // in this node's store, once its manifest is there

 private:
  struct Made {  // one file of the result
    std::string path;
    FileTree tree;
    bool executable = false;
  };
  [[nodiscard]] std::vector<Made> make_share(unsigned place, unsigned makers, std::uint64_t& read_bytes,
                                             const std::stop_token& stop);
  // Part `part` of `parts` of an HDF5 file's blocks; other files are part 0.
  void make_file(const Entry& entry, std::uint64_t part, std::uint64_t parts, const std::filesystem::path& workplace,
                 std::vector<Made>& made, std::uint64_t& read_bytes, const std::stop_token& stop);
  [[nodiscard]] static std::string encode(const std::vector<Made>& made);
  [[nodiscard]] std::string manifest_of(const std::vector<std::string>& shares) const;

  const StageRequest& request_;
  const Manifest& asset_;
  Store* const shared_;
  Store& own_;
  Hdf5 hdf5_;
};

// Throws Error{usage} for a selection, block shape or filter that is none.
void check_selections(const StageRequest& request);

}  // namespace sabath
