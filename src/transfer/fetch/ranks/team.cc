#include "fetch/ranks/team.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <thread>

#include "base/threads.h"
#include "comm/agree.h"
#include "fetch/ranks/job_parcel.h"
#include "fetch/ranks/rank_report.h"
#include "fetch/transfer/swarm.h"

namespace sabath {

namespace {
constexpr std::uint32_t other_ranks = std::numeric_limits<std::uint32_t>::max();  // as a source, for the display

// Those that all ranks share, then this one's own.
std::vector<FileJob> chosen(const std::vector<FileJob>& jobs, const std::vector<std::size_t>& first,
                            const std::vector<std::size_t>& second) {
  std::vector<FileJob> result;
  for (const std::size_t i : first) result.emplace_back(jobs[i]).shared = true;
  for (const std::size_t i : second) result.push_back(jobs[i]);
  return result;
}

bool ends_all(FailureKind kind) {
  return kind == FailureKind::interrupted || kind == FailureKind::terminated || kind == FailureKind::space;
}

}  // namespace

Team::Team(Comm& comm, std::uint64_t rate_limit, const std::stop_token& caller)
    : comm_(comm), rate_limit_(rate_limit), limiter_(rate_limit), rounds_(comm, caller), able_(comm.size(), true) {}

// --- main threads --------------------------------------------------------------------------------------------------

void Team::lead(const std::function<void()>& flow) {
  std::jthread thread = start_thread([&] {
    flow();
    rounds_.end();
  });
  Rounds::Hooks hooks = this->hooks();
  hooks.on_round = [&](const Rounds::Seen& seen) {
    set_rate(seen);
    show(seen);
  };
  rounds_.serve(hooks);
}

Rounds::Hooks Team::hooks() {
  Rounds::Hooks hooks;
  hooks.take_news = [this] {
    const std::lock_guard lock(mutex_);
    return hosts_ == nullptr ? std::string() : hosts_->take_news();
  };
  hooks.hear_news = [this](const std::string& news) {
    const std::lock_guard lock(mutex_);
    if (hosts_ != nullptr) {
      hosts_->hear_news(news);
    } else {
      unheard_ += news;
    }
  };
  return hooks;
}

void Team::follow(FetchContext& context) {
  {
    const std::lock_guard lock(mutex_);
    hosts_ = &context.hosts;
  }
  Rounds::Hooks hooks = this->hooks();
  hooks.work = [&](const Rounds::Order& order) { return work_for_rank_0(context, order); };
  hooks.tally = [&] {
    const std::lock_guard lock(mutex_);
    return meter_ == nullptr ? shown_ : meter_->tally();  // begun, or done
  };
  hooks.on_round = [&](const Rounds::Seen& seen) {
    set_rate(seen);
    const std::lock_guard lock(mutex_);
    if (!seen.under_way) shown_ = {};
  };
  rounds_.serve(hooks);
}

// Each working rank gets an equal part of the job's rate; between orders only rank 0 reads anything.
void Team::set_rate(const Rounds::Seen& seen) {
  if (rate_limit_ == 0) return;
  const std::uint64_t working = seen.under_way ? std::max<std::uint64_t>(seen.working, 1) : 1;
  limiter_.set_rate(std::max<std::uint64_t>(rate_limit_ / working, 1));
}

void Team::show(const Rounds::Seen& seen) {
  const std::lock_guard lock(mutex_);
  if (display_ == nullptr || !seen.under_way) return;
  const Rounds::Tally& now = seen.all;
  if (now.received_bytes > shown_.received_bytes) {
    if (shown_.received_bytes == 0) {
      display_->on(event::SourceNamed{other_ranks, fmt::format("{} other ranks", comm_.size() - 1)});
    }
    display_->on(event::BytesReceived{other_ranks, now.received_bytes - shown_.received_bytes});
  }
  if (now.kept_bytes != shown_.kept_bytes) {
    display_->on(event::BytesKept{static_cast<std::int64_t>(now.kept_bytes - shown_.kept_bytes)});
  }
  for (auto i = shown_.files; i < now.files; ++i) display_->on(event::FileDone{});
  for (auto i = shown_.sizes_learnt; i < now.sizes_learnt; ++i) {
    const bool last = i + 1 == now.sizes_learnt;
    display_->on(event::SizeLearnt{last ? now.sizes_learnt_bytes - shown_.sizes_learnt_bytes : 0});
  }
  shown_ = now;
}

// --- any rank's part -----------------------------------------------------------------------------------------------

FetchContext Team::with(const FetchContext& context, EventSink& events, Ledger& ledger) {
  FetchContext own = context.with(events, ledger);
  own.stop = rounds_.halt();
  own.share = {comm_.rank(), comm_.size()};
  own.team = nullptr;
  return own;
}

RankReport Team::work(FetchContext context, const std::vector<FileJob>& jobs, RankMeter& meter) {
  RankReport report;
  report.host = comm_.host();
  report.failure = failure_of([&] { report.outcomes = fetch_all(context, jobs); });
  report.reused = meter.reused();
  report.warnings = meter.warnings();
  return report;
}

std::string Team::work_for_rank_0(FetchContext& context, const Rounds::Order& order) {
  RankReport report;
  const auto defect = failure_of([&] {
    std::vector<FileJob> jobs;
    std::set<std::string> shared;
    Parcel::Reader all(order.all), own(order.own);
    const bool force = all.flag();
    for (std::uint64_t n = all.number(); n > 0; --n) context.hosts.add_rule(get_rule(all));
    while (!all.at_end()) {
      shared.insert(jobs.emplace_back(get_job(all)).name);
      jobs.back().shared = true;
    }
    while (!own.at_end()) jobs.push_back(get_job(own));
    RankMeter meter(nullptr, std::move(shared));
    Ledger ledger(meter);
    {
      const std::lock_guard lock(mutex_);
      meter_ = &meter;
    }
    FetchContext mine = with(context, meter, ledger);
    mine.force = force;
    report = work(std::move(mine), jobs, meter);
    report.sources = ledger.records();
    const std::lock_guard lock(mutex_);
    meter_ = nullptr;
    shown_ = meter.tally();
  });
  if (defect) report.failure = defect;
  if (report.failure && ends_all(report.failure->kind)) rounds_.halt_all();
  return report.parcel();
}

// --- rank 0's flow -------------------------------------------------------------------------------------------------

std::vector<FileOutcome> Team::fetch(FetchContext& context, const std::vector<FileJob>& jobs) {
  Outcomes outcomes(jobs.size());
  for (;;) {  // once more for each rank that fails
    std::vector<FileJob> open;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (outcomes[i]) continue;
      open.push_back(jobs[i]);
      places.push_back(i);
    }
    if (open.empty()) break;
    Outcomes part(open.size());
    fetch_part(context, open, part);
    for (std::size_t i = 0; i < places.size(); ++i) outcomes[places[i]] = std::move(part[i]);
  }
  std::vector<FileOutcome> all;
  for (auto& outcome : outcomes) all.push_back(std::move(*outcome));
  return all;
}

void Team::fetch_part(FetchContext& context, const std::vector<FileJob>& jobs, Outcomes& outcomes) {
  const Deal deal = deal_jobs(jobs, able_);
  const bool alone = deal.shared.empty() && std::all_of(deal.of_rank.begin() + 1, deal.of_rank.end(),
                                                        [](const auto& own) { return own.empty(); });
  if (alone) {
    auto mine = fetch_all(context, jobs);
    std::ranges::move(mine, outcomes.begin());
    return;
  }
  auto reports = give_orders(context, jobs, deal);
  settle(context, reports, jobs, deal, outcomes);
}

std::vector<RankReport> Team::give_orders(FetchContext& context, const std::vector<FileJob>& jobs, const Deal& deal) {
  Parcel all;
  all.add(std::uint64_t{context.force});
  const auto rules = context.hosts.rules();
  all.add(std::uint64_t{rules.size()});
  for (const HostRule& rule : rules) put_rule(all, rule);
  std::set<std::string> shared;
  for (const std::size_t i : deal.shared) {
    put_job(all, jobs[i]);
    shared.insert(jobs[i].name);
  }
  std::vector<std::string> each;
  for (const auto& own : deal.of_rank) {
    Parcel parcel;
    if (!each.empty()) {  // rank 0 has them
      for (const std::size_t i : own) put_job(parcel, jobs[i]);
    }
    each.push_back(parcel.take());
  }
  RankMeter meter(&context.events, std::move(shared));
  {
    const std::lock_guard lock(mutex_);
    display_ = &context.events;
    hosts_ = &context.hosts;
    hosts_->hear_news(std::exchange(unheard_, {}));
    shown_ = {};
  }
  rounds_.order(all.take(), std::move(each));
  std::vector<RankReport> reports;
  reports.push_back(work(with(context, meter, context.ledger), chosen(jobs, deal.shared, deal.of_rank[0]), meter));
  if (reports[0].failure) rounds_.halt_all();  // without rank 0 no rank can finish the asset
  const auto others = rounds_.reports();
  meter.take_back();
  {
    const std::lock_guard lock(mutex_);
    context.events.on(event::BytesKept{-static_cast<std::int64_t>(shown_.kept_bytes)});
    display_ = nullptr;
    hosts_ = nullptr;
  }
  for (unsigned r = 1; r < others.size(); ++r) reports.push_back(RankReport::of(others[r]));
  return reports;
}

void Team::settle(FetchContext& context, std::vector<RankReport>& reports, const std::vector<FileJob>& jobs,
                  const Deal& deal, Outcomes& outcomes) {
  for (const auto& report : reports) {
    for (const auto& source : report.sources) context.ledger.line(source.url).merge(source);
    for (const auto& warning : report.warnings) context.events.on(event::Warning{report.host + ": " + warning});
  }
  ReusedBytes reused{};
  std::uint64_t well = 0, shared_bytes = 0;
  for (unsigned r = 0; r < reports.size(); ++r) {
    RankReport& report = reports[r];
    if (report.failure) continue;
    ++well;
    std::ranges::transform(reused, report.reused, reused.begin(), std::plus{});
    const std::size_t shared = deal.shared.size();
    for (std::size_t i = 0; i < shared; ++i) {  // whole for one is whole for all
      auto& outcome = outcomes[deal.shared[i]];
      if (!outcome || (outcome->failure && !report.outcomes[i].failure)) outcome = std::move(report.outcomes[i]);
    }
    const auto& own = deal.of_rank[r];
    for (std::size_t i = 0; i < own.size(); ++i) outcomes[own[i]] = std::move(report.outcomes[shared + i]);
  }
  // Each rank has called reused what it did not fetch itself of a shared file.
  for (const std::size_t i : deal.shared) {
    if (outcomes[i] && !outcomes[i]->failure) shared_bytes += jobs[i].known->digest.size_bytes;
  }
  std::uint64_t others = well > 0 ? (well - 1) * shared_bytes : 0;
  for (const Reuse level : {Reuse::partial, Reuse::content, Reuse::source, Reuse::chunk}) {
    const std::uint64_t all = reused[static_cast<std::size_t>(level)], not_ours = std::min(all, others);
    others -= not_ours;
    if (all > not_ours) context.events.on(event::BytesReused{all - not_ours, level});
  }
  judge_failures(context, reports);
}

// Throws what ends the whole fetch; a rank that failed for reasons of its own is left out from here.
void Team::judge_failures(FetchContext& context, const std::vector<RankReport>& reports) {
  if (context.stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
  const auto named = [](unsigned rank, const RankReport& report) {
    Failure failure = *report.failure;
    if (rank > 0) failure.message = fmt::format("rank {} on {}: {}", rank, report.host, failure.message);
    return failure;
  };
  for (unsigned r = 0; r < reports.size(); ++r) {
    const auto& failure = reports[r].failure;  // the cause, not a rank that was asked to end because of it
    if (failure && failure->kind == FailureKind::space) throw Error(named(r, reports[r]));
  }
  if (reports[0].failure) throw Error(*reports[0].failure);
  for (unsigned r = 1; r < reports.size(); ++r) {
    if (!reports[r].failure) continue;
    able_[r] = false;
    context.events.on(event::Warning{fmt::format("{}; the other ranks do its work", named(r, reports[r]).message)});
  }
}

std::vector<FileOutcome> fetch_by_all_ranks(FetchContext& context, const std::vector<FileJob>& jobs) {
  return context.team == nullptr ? fetch_all(context, jobs) : context.team->fetch(context, jobs);
}

}  // namespace sabath
