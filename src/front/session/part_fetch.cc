#include "session/part_fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/wording.h"
#include "fetch/hosts/context.h"
#include "fetch/hosts/hosts.h"
#include "fetch/hosts/ledger.h"
#include "fetch/hosts/rate_limit.h"
#include "fetch/hosts/space_guard.h"
#include "fetch/ranks/job_parcel.h"
#include "fetch/transfer/swarm.h"

namespace sabath {
namespace {

// Empty: not one by one.
std::string sources_of(const Recipe& recipe, const RewriteRules& rewrites) {
  const auto by_itself = [](const Fragment& fragment) { return fragment.type == FragmentType::file && fragment.path; };
  if (recipe.git || !std::ranges::all_of(recipe.fragments, by_itself)) return "";
  Parcel parcel;
  const auto rules = rules_of(recipe);
  parcel.add(std::uint64_t{rules.size()});
  for (const HostRule& rule : rules) put_rule(parcel, rule);
  for (const Fragment& fragment : recipe.fragments) {
    FileJob job;
    job.name = fragment.path->text();
    for (const Url& url : fragment.urls) job.urls.push_back(rewritten(url, rewrites));
    job.source = fragment.urls.front();
    put_job(parcel, job);
  }
  return parcel.take();
}

class PartFetch {
 public:
  PartFetch(const SessionSettings& settings, EventSink& events, const std::string& sources)
      : settings_(settings), events_(events), rules_(settings.host_rules) {
    Parcel::Reader parcel(sources);
    for (std::uint64_t n = parcel.number(); n > 0; --n) rules_.push_back(get_rule(parcel));
    while (!parcel.at_end()) {
      FileJob job = get_job(parcel);
      jobs_.emplace(job.name, std::move(job));
    }
  }

  std::optional<Failure> fetch(Store& node, std::vector<WantedFile> files, unsigned nodes,
                               std::uint64_t& received_bytes, const std::stop_token& stop) {
    if (settings_.offline) {
      return Failure{FailureKind::offline, "the network may not be used", "leave out " + option_text("offline"),
                     std::nullopt};
    }
    std::vector<FileJob> jobs;
    WantedChunks wanted;
    for (WantedFile& file : files) {
      const auto source = jobs_.find(file.file.path);
      if (source == jobs_.end()) {
        return Failure{FailureKind::offline, fmt::format("the recipe does not name {}", printable(file.file.path)), "",
                       std::nullopt};
      }
      FileJob& job = jobs.emplace_back(source->second);
      job.size_bytes = file.file.digest.size_bytes;
      job.known = FileTree{file.file.digest, std::move(file.chunks)};
      if (!file.wanted.empty()) wanted.emplace(file.file.digest, std::move(file.wanted));
    }
    // A writer of its own each time: a partial's journal begins anew with each opening by the same one.
    const auto own = Store::open(node.directory(), false);
    if (!fetchers_) fetchers_ = make_fetchers(settings_.fetchers);
    Ledger ledger(events_);
    const RewriteRules rewrites;  // rank 0 has applied its own
    SpaceGuard space(own->space(), own->directory().string());
    RateLimiter limiter(settings_.limit_rate == 0 ? 0 : std::max<std::uint64_t>(1, settings_.limit_rate / nodes));
    Hosts hosts(settings_.lanes, nodes, rules_);
    FetchContext context{
        .store = *own,
        .fetchers = *fetchers_,
        .events = events_,
        .ledger = ledger,
        .space = space,
        .limiter = limiter,
        .hosts = hosts,
        .rewrites = rewrites,
        .lanes = settings_.lanes,
        .force = false,
        .stop = stop,
        .packs = false,  // the view is made of them
        .wanted = &wanted,
    };
    std::optional<Failure> failure;
    try {
      for (const FileOutcome& outcome : fetch_all(context, jobs)) {
        if (!failure) failure = outcome.failure;
      }
    } catch (...) {
      received_bytes += ledger.bytes();
      throw;
    }
    received_bytes += ledger.bytes();
    return failure;
  }

 private:
  const SessionSettings& settings_;
  EventSink& events_;
  std::vector<HostRule> rules_;
  std::map<std::string, FileJob> jobs_;  // by path
  std::unique_ptr<FetcherSet> fetchers_;
};

}  // namespace

std::vector<HostRule> rules_of(const Recipe& recipe) {
  std::vector<HostRule> rules;
  if (recipe.limits == HostLimits{}) return rules;
  for (const auto& fragment : recipe.fragments) {
    for (const auto& url : fragment.urls) rules.push_back({url.host(), recipe.limits});
  }
  return rules;
}

FetchPart make_part_fetch(Comm& comm, const SessionSettings& settings, const Recipe* recipe, EventSink& events) {
  std::string sources;
  if (recipe != nullptr && !settings.offline) sources = sources_of(*recipe, settings.rewrites);
  comm.broadcast(sources, 0);
  if (sources.empty()) return {};
  const auto fetch = std::make_shared<PartFetch>(settings, events, sources);
  return [fetch](Store& node, std::vector<WantedFile> files, unsigned nodes, std::uint64_t& received_bytes,
                 const std::stop_token& stop) {
    return fetch->fetch(node, std::move(files), nodes, received_bytes, stop);
  };
}

}  // namespace sabath
