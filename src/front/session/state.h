// The state of a Session: for the files of src/front/session alone. One thread.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "fetch/ranks/team.h"
#include "holdings/holding.h"
#include "holdings/late_fetchers.h"
#include "holdings/stores.h"
#include "recipe/catalogue.h"
#include "sabath/comm.h"
#include "sabath/session.h"
#include "session/url_recipe.h"
#include "store/leases/lease.h"
#include "store/named_file.h"
#include "store/store.h"

namespace sabath {

struct Session::State {
  State(SessionSettings given, Comm* all_ranks)
      : settings(std::move(given)), ranks(all_ranks), fetchers(guarded(settings.fetchers)) {}

  Store& open_store() {
    if (!store) store = open_store_of(settings, true);
    return *store;
  }

  [[nodiscard]] Catalogue catalogue() const { return make_catalogue(settings); }  // as of now
  std::vector<Recipe> wanted(const FetchRequest& request, EventSink& events);
  void keep_recipes(const FetchRecord& record, EventSink& events);  // of URLs that gave something

  // Taken before anything is looked up: what is found stays until the fetch has ended.
  [[nodiscard]] Lease lease_for(Store& in, const std::vector<Recipe>& recipes) const;
  // `team`: of rank 0, if there are others.
  FetchRecord fetch(const FetchRequest& request, EventSink& events, const std::stop_token& stop, Team* team);

  // Local files are read for the store that is open: all users who read it must be able to read them, and so must those
  // who named them.
  FetcherSettings guarded(FetcherSettings given) {
    given.admit = [this](const std::filesystem::path& file, const Url& url) {
      check_named_file(url.namer(), file, url.display());
      if (store) store->admit(file, url.display());
    };
    return given;
  }

  SessionSettings settings;
  Comm* ranks;
  std::unique_ptr<Store> store;
  LateFetchers fetchers;
  std::vector<UrlRecipe> made;  // by wanted(), and not written yet
  UrlDocuments documents;       // that wanted() has read
};

}  // namespace sabath
