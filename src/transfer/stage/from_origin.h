// Fetches pieces that neither a node nor the shared store has from their origin into the nodes' own stores, each part
// into one of them; from there the exchange moves it. For staging that leaves the shared store as it is.
//
// Of a node's leader. The main threads of all members call the "Collective." functions; look() and fetch() are a node's
// own work, and throw errors that end it for this node (no space, storage, a stop request).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "manifest/manifest.h"
#include "sabath/comm.h"
#include "sabath/error.h"
#include "stage/node/piece_reader.h"
#include "stage/plan/piece_set.h"
#include "stage/plan/plan.h"
#include "store/store.h"

namespace sabath {

struct WantedFile {
  StagedFile file;
  std::vector<Sha256> chunks;
  std::vector<bool> wanted;  // of `chunks`; empty: all
};

// Fetches these files into a node's store, which has room for them. `nodes`: how many ask the same hosts at this time.
// `received_bytes` grows by all bytes that came, kept or not. A failure that other nodes may be spared is returned.
using FetchPart = std::function<std::optional<Failure>(Store& node, std::vector<WantedFile> files, unsigned nodes,
                                                       std::uint64_t& received_bytes, const std::stop_token& stop)>;

class FromOrigin {
 public:
  // `shared`: nullptr if this node does not see the shared store. `fetch`: empty if nothing can be fetched by parts.
  // At most `nodes_max` fetch at once.
  FromOrigin(FetchPart fetch, Store* shared, unsigned nodes_max)
      : fetch_(std::move(fetch)), shared_(shared), nodes_max_(nodes_max) {}

  // Collective. False: each piece that a node lacks is on another node.
  [[nodiscard]] bool agree(Comm& members, const Dealing& dealing, const PieceSet& mine);
  // Finds the part of the rest that the shared store has; one node looks.
  void look(const Tape& tape);
  // Collective. Decides which node fetches what. False: no node has to.
  [[nodiscard]] bool deal(Comm& members, const Dealing& dealing, const Tape& tape);
  // `received_bytes` grows by what came.
  void fetch(Store& node, const Tape& tape, ChunkLists& chunks, std::uint64_t& received_bytes,
             const std::stop_token& stop);
  [[nodiscard]] bool begun() const { return rounds_ > 0; }

 private:
  const FetchPart fetch_;
  Store* const shared_;
  const unsigned nodes_max_;
  PieceSet lacking_;  // that no node has; after deal(): nor the shared store
  PieceSet in_shared_, mine_;
  bool looks_ = false;
  unsigned rounds_ = 0, fetching_ = 0;  // nodes
  std::optional<Failure> failure_;      // this node's: it is given nothing more
  std::optional<Failure> hopeless_;     // all nodes': no node is left that could fetch
};

}  // namespace sabath
