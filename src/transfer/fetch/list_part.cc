#include "fetch/list_part.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/reach.h"
#include "base/text.h"
#include "fetch/decide/selection.h"
#include "fetch/hosts/source_key.h"
#include "fetch/resolve.h"
#include "fetch/transfer/at_hand.h"
#include "hub/revision.h"
#include "store/space/footprint.h"

namespace sabath {
namespace {

// Warns of hashes that a publisher states and SABATH does not compare: "verified" does not cover them.
void tell_of_unchecked(EventSink& events, const Fragment& fragment, const std::vector<ListedFile>& listed) {
  std::set<std::string> algorithms;
  for (const auto& file : listed) {
    if (!file.unchecked.empty() && algorithms.size() < 10) algorithms.insert(printable(file.unchecked, 40));
  }
  if (algorithms.empty()) return;
  events.on(event::Warning{fmt::format("{}: {} publishes hashes that are not computed here and not checked: {}",
                                       fragment.id, fragment.urls.front().display(), fmt::join(algorithms, ", "))});
}

}  // namespace

// --- the files ----------------------------------------------------------------------------------------------------

struct ListedPart::Files {
  std::vector<RelativePath> paths;
  std::vector<FileOutcome> outcomes;  // of each
  std::vector<FileJob> missing;
  std::vector<std::size_t> places;  // of each that is missing

  // With `more`; nullopt where a size is not known.
  [[nodiscard]] std::optional<std::uint64_t> bytes(std::uint64_t more) const {
    if (!std::ranges::all_of(missing, [](const FileJob& job) { return job.size_bytes.has_value(); })) return {};
    for (const FileJob& job : missing) more += *job.size_bytes;
    for (const FileOutcome& outcome : outcomes) more += outcome.tree.digest.size_bytes;
    return more;
  }
};

ListedPart::Files ListedPart::jobs() {
  Files files;
  files.outcomes.resize(listed_.size());
  const Standing standing(scope_.context.force ? nullptr : &store(), listed_.size());
  for (const auto& file : listed_) {
    FileJob job = scope_.choices.job_of(fragment(), file);
    const std::size_t at = files.paths.size();
    if (!at_hand(scope_.context, job, scope_.request.refresh, files.outcomes[at], &standing)) {
      files.places.push_back(at);
      files.missing.push_back(std::move(job));
    }
    files.paths.push_back(place(file.path));
  }
  return files;
}

bool ListedPart::enter_files(bool over_tls, std::optional<std::uint64_t> list_bytes) {
  scope_.choices.choose(fragment(), listed_);
  tell_of_unchecked(scope_.context.events, fragment(), listed_);
  Files files = jobs();
  scope_.context.events.on(
      event::TotalKnown{files.bytes(list_bytes.value_or(0)), listed_.size() + (list_bytes ? 1 : 0)});
  auto fetched = scope_.fetch(files.missing);
  for (std::size_t i = 0; i < fetched.size(); ++i) {
    note_giver(files.missing[i], fetched[i]);
    const auto giver = fetched[i].failure ? std::nullopt : fetched[i].giver;
    from_hub_ |= giver && files.missing[i].urls[*giver].scheme() == "hf";
    files.outcomes[files.places[i]] = std::move(fetched[i]);
  }
  bool all = true;
  for (std::size_t i = 0; i < files.paths.size(); ++i) {
    FileOutcome& outcome = files.outcomes[i];
    if (outcome.failure) {
      scope_.failures.push_back({files.paths[i].text(), *outcome.failure});
      all = false;
      continue;
    }
    const auto& urls = listed_[i].urls;
    if (over_tls && urls.size() == 1) outcome.over_tls |= urls.front().scheme() == fragment().urls.front().scheme();
    note_trust(outcome);
    remember_aliases(outcome);
    entries_.add_file(files.paths[i], outcome.tree.digest, outcome.tree.chunks);
    entries_.add_checksums(files.paths[i], outcome.computed);
    ++scope_.files_done;
  }
  outcome_.validators = {};  // those of the listing say nothing about its files
  return all;
}

// --- a document ---------------------------------------------------------------------------------------------------

void ListPart::prepare() {
  static_cast<void>(list_path(fragment()));  // a list without a name of its own is refused before a byte moves
  FileJob& job = own_job();
  job.inspect = [this](const std::string& text, const std::string&) {
    listed_ = parse_list(text, fragment());
    return true;
  };
  if (!job.size_bytes) job.inspect_size_max = list_size_max;
  if (is_local()) return adopt_local();
  settled_ = at_hand(scope_.context, job, scope_.request.refresh, outcome_);
}

FileOutcome ListPart::read_local(const LocalFile& file, std::uint64_t size_bytes) {
  own_job().inspect(try_read_text(file.path, document_size_max).value_or(""), file.path);
  return FragmentPart::read_local(file, size_bytes);
}

// A rewrite rule leads to a copy of what the host says that the recipe names.
std::optional<Reach> ListPart::heard() {
  const std::size_t giver = outcome_.giver.value_or(0);
  const Url& named = fragment().urls[giver];
  const bool copied = outcome_.reach && own_job().urls[giver] != named;
  return copied ? std::min(*outcome_.reach, reach_of(named)) : outcome_.reach;
}

bool ListPart::enter() {
  if (listed_.empty()) {  // the list was here already
    const Digest& digest = outcome_.tree.digest;
    own_job().inspect(store().text_of(digest, document_size_max).value_or(""), digest.hash.prefixed());
  }
  name_listing(listed_, fragment().urls[outcome_.giver.value_or(0)], heard());
  // Where patterns choose, the list itself is there if they choose it, too; a sample has nothing but data.
  const Selection& selection = scope_.request.selection;
  const RelativePath path = list_path(fragment());
  const bool kept = selection.empty() || (!selection.select.empty() && selects(selection, path));
  if (kept) entries_.add_file(path, outcome_.tree.digest, outcome_.tree.chunks);
  const bool all = enter_files(false, outcome_.tree.digest.size_bytes);
  if (kept) ++scope_.files_done;
  return all;
}

// --- a resolver's answer ------------------------------------------------------------------------------------------

void ResolvedPart::prepare() {
  FileJob& job = own_job();
  job.listed = true;  // its sources are counted with those of its files
  if (scope_.request.offline) scope_.refuse_offline(job.name, 1);
  settle_now([&] {
    scope_.context.events.on(event::PhaseChanged{"resolve"});
    Listing listing = resolve(scope_.context, fragment().urls, fragment().limit, listing_time_max, &outcome_.giver);
    outcome_.over_tls = listing.over_tls;
    listed_ = std::move(listing.files);
    hub_ = std::move(listing.hub);
    scope_.resolved.push_back({fragment().urls.front().display(), std::move(listing.version)});
  });
}

// A store serves to others what a hub gave without credentials. That the tree could be listed so proves little: hubs
// list what they do not give. A file that came so, now or before, proves it for the repository.
std::string ResolvedPart::note() const {
  if (!hub_ || !scope_.request.selection.empty()) return FragmentPart::note();
  HubRevision hub = *hub_;
  hub.below = fragment().path ? fragment().path->text() : "";
  hub.whole = hub.whole && !fragment().limit;
  const auto before = store().ref(source_key(fragment(), store().source_names()));
  const auto noted = before ? try_decode_hub_note(before->note) : std::nullopt;
  const bool was_open = noted && noted->open && noted->kind == hub.kind && noted->repository == hub.repository;
  hub.open = hub.open && (from_hub() || was_open);
  return is_sound(hub) ? encode_hub_note(hub) : "";
}

}  // namespace sabath
