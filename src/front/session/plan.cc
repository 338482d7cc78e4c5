// Session::plan: each asset's plan, what only its sources know asked, and the whole held against every bound.
#include "sabath/verbs/plan.h"
#include "base/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "comm/solo_comm.h"
#include "fetch/known_tree.h"
#include "sabath/path.h"
#include "session/ends.h"
#include "session/pinned.h"
#include "session/preflight.h"
#include "session/state.h"
#include "stage/node/target.h"
#include "store/space/footprint.h"
#include "store/space/reservation.h"

namespace sabath {
namespace {

// The first of the stores that stands, which looks into all others. (Where it is not the one to write to, what would be
// copied from it counts as here: its room is not planned.)
std::unique_ptr<Store> try_open_any(const SessionSettings& settings) {
  auto store = try_open_store(settings.store);
  for (std::size_t i = 0; !store && i < settings.other_stores.size(); ++i)
    store = try_open_store(settings.other_stores[i]);
  if (store) look_into_others(*store, settings);
  return store;
}

std::filesystem::path one_directory(const std::string& to) {
  const auto directories = expand_target(to, *make_solo_comm());
  if (directories.size() == 1) return directories.front();
  throw Error(FailureKind::usage, fmt::format("{} {}: plan looks at one directory", option_text("to"), printable(to)),
              "name each in turn; `stage` itself says before the first byte whether all fits on several");
}

class FactsOnly final : public Sink {
 public:
  void begin(const ContentInfo& info) override { size = info.size_bytes; }
  void write(std::span<const std::byte>) override {}
  std::optional<std::uint64_t> size;
};

// Asks sources for the sizes of their files, and moves nothing.
class SizeQuestions {
 public:
  SizeQuestions(FetcherSet& fetchers, unsigned requests_max, std::stop_token stop)
      : fetchers_(fetchers), requests_max_(requests_max), stop_(std::move(stop)) {}

  // nullopt: none of its mirrors says.
  std::optional<std::uint64_t> ask(const UnsizedFile& file, PlannedAsset& told) {
    std::optional<Failure> last;
    for (std::size_t i = 0; i < file.urls.size(); ++i) {
      PlannedSource& source = told.sources[file.source + i];
      Fetcher* fetcher = fetchers_.find(file.urls[i].scheme());
      const std::string origin = file.urls[i].origin();
      if (fetcher == nullptr || silent_.contains(origin) || traffic.requests >= requests_max_) continue;
      FactsOnly facts;
      try {
        fetcher->read({file.urls[i], 0, 0, {}}, facts, traffic, stop_);
        source.size_bytes = facts.size;
        if (facts.size) return facts.size;
        last.reset();
      } catch (const Error& error) {
        last = error.failure();
        if (last->kind == FailureKind::interrupted || last->kind == FailureKind::internal) throw;
        source.problem = last->message;
        if (last->kind == FailureKind::network) silent_.insert(origin);
      }
    }
    if (last && !told.refused) {  // each source's line says why
      last->message = fmt::format("{}: {}: no source gives it now", told.name, file.name);
      told.refused = last;
    }
    return std::nullopt;
  }

  Traffic traffic;

 private:
  FetcherSet& fetchers_;
  const std::uint64_t requests_max_;
  const std::stop_token stop_;
  std::set<std::string> silent_;  // origins that did not answer: once is enough
};

void refuse_unreadable(PlannedAsset& told) {
  if (told.refused || told.sources.empty() || (told.to_fetch.files == 0 && told.files_without_size == 0)) return;
  for (const auto& first : told.sources) {
    const bool readable = std::ranges::any_of(told.sources, [&](const PlannedSource& source) {
      return source.fragment == first.fragment && source.readable;
    });
    if (readable) continue;
    told.refused =
        Failure{FailureKind::unavailable, fmt::format("{}: no fetcher of this build reads {}", told.name, first.url),
                fmt::format("`{}` shows what it reads", verb_text("fetchers")), std::nullopt};
    return;
  }
}

void add_bounds(PlanRecord& record, const Limits& limits, const Need& need, const Promised& others,
                const std::string& what) {
  for (const Bound& bound : bounds_of(limits, need, others)) {
    const bool known = record.sizes_known || !bound.fits();
    record.limits.push_back({bound.what, bound.by, bound.needed, bound.available(), bound.promised,
                             known ? std::optional(bound.fits()) : std::nullopt});
  }
  for (const auto& text : limits.unknown) record.unknown.push_back(fmt::format("{} ({})", text, limits.place));
  if (need.bytes == 0 && need.inodes == 0) return;
  if (auto failure = refusal_of(limits, need, others, what)) record.refusals.push_back(std::move(*failure));
}

// The room that `stage` would need in the node's own store.
Need need_at(Store* node, Store* shared, const std::vector<Recipe>& recipes, const std::vector<AssetPlan>& plans) {
  Need sum;
  for (std::size_t i = 0; i < recipes.size(); ++i) {
    const auto root = shared == nullptr ? std::nullopt : known_root(*shared, recipes[i], std::nullopt);
    const auto manifest = root ? shared->manifest(*root) : std::nullopt;
    if (!manifest) {  // as far as its sources say
      sum.bytes += plans[i].told.all.bytes;
      sum.inodes += plans[i].told.all.files;
      continue;
    }
    const Standing standing(node, manifest->totals().files);
    Footprint footprint(node, 1);  // never packed there
    std::uint64_t missing = 0;
    manifest->for_each([&](const Entry& entry) {
      if (!entry.is_file() || standing.has(entry.digest)) return;
      ++missing;
      footprint.add_file(entry.digest.size_bytes);
      if (entry.type == EntryType::executable) footprint.add_copy(entry.digest.size_bytes);
      if (entry.digest.size_bytes <= sum.biggest_file) return;
      sum.biggest_file = entry.digest.size_bytes;
      sum.biggest_name = entry.path.text();
    });
    if (missing == 0) continue;
    footprint.add_view(manifest->totals());
    sum.bytes += footprint.bytes();
    sum.inodes += footprint.inodes();
  }
  return sum;
}

void add_time(PlanRecord& record, const std::vector<AssetPlan>& plans, Store* store, const SessionSettings& settings) {
  TimeNeed time{record.bytes_to_fetch, std::nullopt, std::nullopt};
  if (store != nullptr && time.bytes > 0) time.rate = rate_of(read_rates(*store), origins_of(plans));
  if (time.rate) {
    record.bytes_per_second = time.rate->usual;
    record.seconds = static_cast<double>(time.bytes) / time.rate->usual;
    record.rate_by = fmt::format("the median of {} earlier {} from there", time.rate->samples,
                                 time.rate->samples == 1 ? "fetch" : "fetches");
  }
  if (settings.deadline) time.deadline = settings.deadline();
  if (!time.deadline) return;
  const auto now = std::chrono::system_clock::now();
  record.walltime_left_s = std::chrono::duration_cast<std::chrono::seconds>(time.deadline->at - now).count();
  record.walltime_by = time.deadline->by;
  const auto failure = refusal_of(time, now, names_of(plans));
  const auto left = static_cast<std::uint64_t>(std::max<std::int64_t>(0, *record.walltime_left_s));
  if (time.bytes > 0) {
    record.limits.push_back({"walltime", time.deadline->by,
                             time.rate ? static_cast<std::uint64_t>(record.seconds.value_or(0)) : 0, left, 0,
                             failure || (time.rate && record.sizes_known) ? std::optional(!failure) : std::nullopt});
  }
  if (failure) {
    record.refusals.push_back(*failure);
  } else if (record.seconds && *record.seconds > static_cast<double>(left)) {
    record.warnings.push_back("at the usual rate it does not end before the walltime does; what arrives is kept");
  }
}

void warn_of_ends(PlanRecord& record) {
  std::set<std::string> told;
  for (const auto& asset : record.assets) {
    if (asset.to_fetch.files == 0) continue;
    for (const auto& source : asset.sources) {
      const bool soon = source.expires_in_s && *source.expires_in_s > 0 && record.seconds &&
                        static_cast<double>(*source.expires_in_s) < *record.seconds;
      if (!soon || !told.insert(source.expires_by).second) continue;
      record.warnings.push_back(fmt::format("{}: {} ends in {}, before the last byte is there", source.url,
                                            source.expires_by,
                                            format_duration(static_cast<double>(*source.expires_in_s))));
    }
  }
}

}  // namespace

void judge_sources(AssetPlan& plan, const std::vector<Credential>& credentials,
                   std::chrono::system_clock::time_point now) {
  note_ends(plan, credentials, now);
  if (!plan.told.refused) plan.told.refused = refusal_of_ended(plan.told);
  refuse_unreadable(plan.told);
}

PlanRecord Session::plan(const PlanRequest& request, EventSink& events, std::stop_token stop) {
  State& state = *state_;
  const SessionSettings& settings = state.settings;
  const auto recipes = state.wanted(request.fetch, events);
  const auto store = try_open_any(settings);
  AssetRequest asset;
  asset.selection = request.fetch.selection;
  asset.refresh = request.fetch.refresh;
  asset.offline = settings.offline;
  const unsigned requests_max = settings.offline ? 0 : request.requests_max;
  SizeQuestions questions(state.fetchers, requests_max, stop);
  std::vector<AssetPlan> plans;
  PlanRecord record;
  const auto credentials = settings.credentials ? settings.credentials() : std::vector<Credential>{};
  const auto now = std::chrono::system_clock::now();
  for (const auto& recipe : recipes) {
    std::optional<Manifest> pinned;
    if (questions.traffic.requests < requests_max &&
        !(store && recipe.manifest && store->manifest(recipe.manifest->digest))) {
      pinned = ask_pinned(recipe, settings.rewrites, state.fetchers, questions.traffic, record.warnings, stop);
    }
    AssetPlan plan = plan_asset(store.get(), recipe, asset,
                                {settings.rewrites, &state.fetchers, request.fetch.force, pinned ? &*pinned : nullptr});
    judge_sources(plan, credentials, now);
    for (const auto& file : plan.unsized) {
      if (plan.told.refused || requests_max == 0) break;
      if (const auto size = questions.ask(file, plan.told)) add_size(plan, store.get(), file, *size);
    }
    plans.push_back(std::move(plan));
  }
  record.requests = questions.traffic.requests;
  record.store = settings.store.string();
  for (const auto& plan : plans) {
    const PlannedAsset& told = plan.told;
    record.bytes_to_fetch += told.bytes_to_move();
    record.sizes_known = record.sizes_known && told.sizes_known() && told.archives == 0;
    if (told.refused) record.refusals.push_back(*told.refused);
    record.assets.push_back(told);
  }
  const Need need = need_of(plans);
  record.store_bytes = need.bytes;
  record.store_inodes = need.inodes;
  const bool own = store && store->directory() == std::filesystem::absolute(settings.store);
  add_bounds(record, read_limits(settings.store, stop), need, own ? promised_by_others(*store) : Promised{},
             names_of(plans));
  if (!request.to.empty()) {
    const std::filesystem::path to = one_directory(request.to);
    const auto node = try_open_store(to / ".sabath");
    add_bounds(record, read_limits(to, stop), need_at(node.get(), store.get(), recipes, plans),
               node ? promised_by_others(*node) : Promised{}, names_of(plans));
  }
  add_time(record, plans, store.get(), settings);
  warn_of_ends(record);
  if (!record.refusals.empty()) record.exit = exit_code(record.refusals.front().kind);
  if (record.sizes_known || record.exit != 0) record.fits = record.exit == 0;
  return record;
}

}  // namespace sabath
