#include "session/listed_fetch.h"

#include "fetch/asset.h"
#include "fetch/hosts/context.h"
#include "fetch/hosts/hosts.h"
#include "fetch/hosts/ledger.h"
#include "fetch/hosts/rate_limit.h"
#include "fetch/hosts/space_guard.h"
#include "holdings/holding.h"
#include "holdings/late_fetchers.h"
#include "recipe/catalogue.h"
#include "session/fetch_log.h"
#include "session/preflight.h"
#include "store/named_file.h"

namespace sabath {

AssetRecord fetch_listed(const SessionSettings& settings, Store& store, Recipe recipe, EventSink& events,
                         const std::stop_token& stop) {
  make_catalogue(settings).note_namer(recipe);
  FetcherSettings guarded = settings.fetchers;
  guarded.admit = [&](const std::filesystem::path& file, const Url& url) {
    check_named_file(url.namer(), file, url.display());
    store.admit(file, url.display());
  };
  const LateFetchers fetchers(std::move(guarded));
  AssetRequest request;
  request.offline = settings.offline;
  request.view = false;
  const auto ahead = [&] { return preflight(store, {recipe}, request, {settings.rewrites, nullptr, false}, settings); };
  SpaceGuard space(store, "fetch for " + recipe.name, ahead, stop);
  RateLimiter limiter(settings.limit_rate);
  Hosts hosts(settings.lanes, 1, settings.host_rules);
  Ledger unused(events);
  FetchContext context{
      .store = store,
      .fetchers = fetchers,
      .events = events,
      .ledger = unused,
      .space = space,
      .limiter = limiter,
      .hosts = hosts,
      .rewrites = settings.rewrites,
      .lanes = settings.lanes,
      .force = false,
      .stop = stop,
  };
  AssetRecord record = fetch_asset(context, recipe, request);
  if (record.fetched_bytes > 0 || !record.failures.empty()) append_to_log(store, record);
  return record;
}

}  // namespace sabath
