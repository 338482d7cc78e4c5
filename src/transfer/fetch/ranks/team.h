// All ranks of an MPI job fetch into one store. Rank 0 leads: it alone knows recipes and manifests, decides, publishes
// the asset and writes the record; the others fetch the files and chunks that it gives them, and report. A rank that
// fails is left out, and the others do its work.
//
// lead() and follow() are for the main threads; rank 0's other work runs in a thread of its own and calls fetch().
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "fetch/decide/deal.h"
#include "fetch/decide/job.h"
#include "fetch/hosts/context.h"
#include "fetch/hosts/hosts.h"
#include "fetch/hosts/ledger.h"
#include "fetch/hosts/rate_limit.h"
#include "fetch/ranks/rank_report.h"
#include "fetch/ranks/rounds.h"

namespace sabath {

// Fetches all jobs as fetch_all() does, by all ranks where there are several.
[[nodiscard]] std::vector<FileOutcome> fetch_by_all_ranks(FetchContext& context, const std::vector<FileJob>& jobs);

class Team {
 public:
  // Collective. `rate_limit`: bytes a second of the whole job, 0: none; dealt to the ranks that work.
  Team(Comm& comm, std::uint64_t rate_limit, const std::stop_token& caller);

  // Collective: rank 0 leads, all others follow, with the lanes, fetchers and store of `context`. `flow` runs in a
  // thread of its own, and throws nothing. Throws Error{nodes} when a rank does not answer.
  void lead(const std::function<void()>& flow);
  void follow(FetchContext& context);

  [[nodiscard]] unsigned ranks() const { return static_cast<unsigned>(comm_.size()); }
  [[nodiscard]] std::stop_token stop() const { return rounds_.stop(); }  // asked of any rank
  [[nodiscard]] RateLimiter& limiter() { return limiter_; }              // this rank's part of the rate
  // Rank 0's flow: one outcome for each job, in their order. Throws as fetch_all() does.
  [[nodiscard]] std::vector<FileOutcome> fetch(FetchContext& context, const std::vector<FileJob>& jobs);

 private:
  using Outcomes = std::vector<std::optional<FileOutcome>>;

  void fetch_part(FetchContext& context, const std::vector<FileJob>& jobs, Outcomes& outcomes);
  [[nodiscard]] std::vector<RankReport> give_orders(FetchContext& context, const std::vector<FileJob>& jobs,
                                                    const Deal& deal);
  void settle(FetchContext& context, std::vector<RankReport>& reports, const std::vector<FileJob>& jobs,
              const Deal& deal, Outcomes& outcomes);
  void judge_failures(FetchContext& context, const std::vector<RankReport>& reports);
  [[nodiscard]] FetchContext with(const FetchContext& context, EventSink& events, Ledger& ledger);
  [[nodiscard]] RankReport work(FetchContext context, const std::vector<FileJob>& jobs, RankMeter& meter);
  [[nodiscard]] std::string work_for_rank_0(FetchContext& context, const Rounds::Order& order);
  void show(const Rounds::Seen& seen);
  [[nodiscard]] Rounds::Hooks hooks();  // pauses that one rank's hosts ask for are all ranks'
  void set_rate(const Rounds::Seen& seen);

  Comm& comm_;
  const std::uint64_t rate_limit_;
  RateLimiter limiter_;
  Rounds rounds_;
  std::vector<bool> able_;  // of rank 0's flow

  std::mutex mutex_;  // of what follows
  RankMeter* meter_ = nullptr;
  EventSink* display_ = nullptr;  // rank 0's, while the others work
  Hosts* hosts_ = nullptr;        // this rank's; rank 0's while the others work
  std::string unheard_;           // news that came to rank 0 before
  Rounds::Tally shown_;
};

}  // namespace sabath
