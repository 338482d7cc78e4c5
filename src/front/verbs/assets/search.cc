// `search`: what is asked for, asked of the index; the best answers first.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/wording.h"
#include "index/index.h"
#include "index/query.h"
#include "sabath/error.h"
#include "sabath/verbs/list.h"
#include "sabath/verbs/search.h"
#include "store/leases/uses.h"
#include "store/shared.h"
#include "verbs/assets/harvested_texts.h"
#include "verbs/assets/list_fields.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t limit_max = 10'000;

// Indexes stand beside the user's other caches, not in a store: others write there.
fs::path index_directory(const Environment& environment) {
  const fs::path cache = environment.base_directory("XDG_CACHE_HOME", ".cache");
  return cache.empty() ? cache : cache / "sabath-catalogue";
}

struct Answer {
  unsigned fit = 0;
  const CatalogueIndex::Item* item = nullptr;
};

struct Ranked {
  unsigned fit = 0;
  bool stored = false;
  std::int64_t used_ns = 0;
  AssetSummary summary;
};

bool before(const Ranked& a, const Ranked& b) {
  return std::tie(b.fit, b.stored, b.used_ns, a.summary.kind, a.summary.name) <
         std::tie(a.fit, a.stored, a.used_ns, b.summary.kind, b.summary.name);
}

bool asks_nothing(const SearchRequest& request) {
  const bool text = !request.pattern.empty() || !request.author.empty() || !request.licence.empty() ||
                    !request.doi.empty() || !request.format.empty() || !request.shape.empty();
  return !text && request.more.empty() && request.tags.empty() && !request.kind && !request.access && !request.size_min;
}

RecipeFilter filter_of(const SearchRequest& request) {
  RecipeFilter filter;
  filter.patterns = request.more;
  if (!request.pattern.empty()) filter.patterns.insert(filter.patterns.begin(), request.pattern);
  filter.kind = request.kind;
  filter.access = request.access;
  filter.tags = request.tags;
  filter.author = request.author;
  filter.licence = request.licence;
  filter.doi = request.doi;
  filter.format = request.format;
  filter.shape = request.shape;
  filter.size_min = request.size_min;
  return filter;
}

}  // namespace

ListRecord search(Session& session, const SearchRequest& request, EventSink&, std::stop_token) {
  if (asks_nothing(request))
    throw Error(FailureKind::usage, "what is searched for is not said",
                fmt::format("say a word of it; `{}` shows everything", verb_text("list")));
  if (request.limit == 0 || request.limit > limit_max)
    throw Error(FailureKind::usage, fmt::format("a search cannot give {} answers", request.limit),
                fmt::format("its limit is from 1 to {}", limit_max));
  const SessionSettings& settings = session.settings();
  const Catalogue catalogue = make_catalogue(settings);
  const RecipeQuery query(filter_of(request));
  const CatalogueIndex index(catalogue, index_directory(request.environment));
  std::vector<Answer> answers;
  const HarvestedTexts harvested(layout_for_user(settings.store));
  for (const CatalogueIndex::Item& item : index.items()) {
    if (const unsigned fit = harvested.fit(query, item.entry); fit > 0) answers.push_back({fit, &item});
  }
  std::ranges::stable_sort(answers, std::greater<>{}, &Answer::fit);
  ListRecord record;
  record.found = answers.size();
  if (answers.size() > request.limit) answers.resize(request.limit);
  const auto store = try_open_store(settings);
  std::vector<Ranked> ranked;
  for (const Answer& answer : answers) {
    const Catalogue::Listed listed = catalogue.listed(*answer.item->file);
    if (!listed.recipe) continue;  // it went just now
    Ranked one{answer.fit, false, 0, stored_summary(*listed.recipe, store.get())};
    one.stored = one.summary.present || one.summary.packed;
    const Holding holding = holding_of(*listed.recipe, store.get());
    if (store && holding.root) one.used_ns = used_at(layout_for_user(settings.store), *holding.root).value_or(0);
    ranked.push_back(std::move(one));
  }
  std::ranges::stable_sort(ranked, before);
  for (Ranked& one : ranked) record.assets.push_back(std::move(one.summary));
  if (record.assets.empty()) record.exit = exit_code(FailureKind::not_found);
  return record;
}

template <>
struct Described<SearchRequest> {
  using Of = SearchRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(pattern, .help = "a word or regular expression, as one of the others", .hidden = true),
      SABATH_FIELD(more,
                   .help = "words or regular expressions (RE2), all of which must be found; upper and lower case "
                           "are the same",
                   .argument = "REGEX"),
      SABATH_FIELD(kind, .help = "only assets of this kind", .letter = 'k'),
      SABATH_FIELD(access, .help = "only assets that may be had so"),
      SABATH_FIELD(tags, .help = "with this tag or fact, and this value", .option = "tag", .value = "KEY[=VALUE]"),
      SABATH_FIELD(author, .help = "by this creator: a part of the name, or an ORCID", .value = "NAME"),
      SABATH_FIELD(licence, .help = "under this licence", .value = "SPDX"),
      SABATH_FIELD(doi, .help = "with this DOI", .value = "DOI"),
      SABATH_FIELD(format, .help = "in this format, as the recipe or its files' endings say", .value = "NAME"),
      SABATH_FIELD(shape,
                   .help = "with an array of this shape, in the recipe or in files in the store; ? is an axis of "
                           "any length",
                   .value = "N,N,..."),
      SABATH_FIELD_AS("min_size", size_min, .help = "of at least this size, where the recipe says it", .unit = "bytes",
                      .value = "SIZE"),
      SABATH_FIELD(limit, .help = "answers at most (100)", .maximum = limit_max, .value = "N"),
      SABATH_FIELD(environment, .help = "its HOME and XDG_CACHE_HOME say where the index is", .hidden = true),
  };
};

extern constexpr LibraryVerb search_call = described<search>("search");

}  // namespace sabath
