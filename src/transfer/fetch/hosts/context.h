// The things that all parts of one fetch share. Owned by fetch_asset for its time; all members are thread-safe.
#pragma once

#include <stop_token>
#include <unordered_map>
#include <vector>

#include "fetch/decide/rewrite.h"
#include "sabath/digest.h"
#include "sabath/event.h"
#include "sabath/fetcher.h"

namespace sabath {

class Hosts;
class Ledger;
class RateLimiter;
class SpaceGuard;
class Store;
class Team;

// The part with which this process begins in a transfer that several ranks work on.
struct Share {
  unsigned rank = 0, ranks = 1;
};

// By known content of several chunks: which of them this process fetches, where other processes fetch the rest.
// Content that is not named is wanted whole.
using WantedChunks = std::unordered_map<Digest, std::vector<bool>>;

struct FetchContext {
  Store& store;
  const FetcherSet& fetchers;
  EventSink& events;
  Ledger& ledger;
  SpaceGuard& space;
  RateLimiter& limiter;
  Hosts& hosts;
  const RewriteRules& rewrites;
  unsigned lanes;  // at most; 0: as many as help
  bool force;      // believe nothing that an earlier fetch left
  std::stop_token stop;
  Share share{};
  Team* team = nullptr;  // the other ranks of an MPI job, where there are any; used by the thread that fetches assets
  bool packs = true;     // the small ones of many files go into packs
  bool many = false;     // files: their small requests may share connections
  const WantedChunks* wanted = nullptr;  // nullptr: all

  // The same with books of its own.
  [[nodiscard]] FetchContext with(EventSink& own_events, Ledger& own_ledger) const {
    return {
        .store = store,
        .fetchers = fetchers,
        .events = own_events,
        .ledger = own_ledger,
        .space = space,
        .limiter = limiter,
        .hosts = hosts,
        .rewrites = rewrites,
        .lanes = lanes,
        .force = force,
        .stop = stop,
        .share = share,
        .team = team,
        .packs = packs,
        .many = many,
        .wanted = wanted,
    };
  }
};

}  // namespace sabath
