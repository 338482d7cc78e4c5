#include "fetch/plan.h"

#include <fmt/format.h>
#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/wording.h"
#include "fetch/decide/selection.h"
#include "fetch/fragment_choice.h"
#include "fetch/hosts/source_key.h"
#include "fetch/known_tree.h"
#include "fetch/resolve.h"
#include "fetch/transfer/at_hand.h"
#include "store/arrived.h"
#include "store/chunk_index.h"
#include "store/space/footprint.h"

namespace sabath {

namespace {

class Planner {
 public:
  Planner(Store* store, const Recipe& recipe, const AssetRequest& request, const PlanSettings& settings)
      : store_(store), recipe_(recipe), request_(request), settings_(settings) {
    plan_.told.name = recipe.name;
    plan_.told.kind = recipe.kind;
    plan_.told.selection = selection_of(recipe, request);
  }

  AssetPlan run() {
    add_sources();
    const auto& pin = request_.pin ? request_.pin : recipe_.manifest;
    const auto here = pin && store_ != nullptr ? store_->manifest(pin->digest) : std::nullopt;
    const KnownTree known = know_tree(store_, recipe_, request_, settings_.force, here ? &*here : settings_.pinned);
    // Of what is fetched anew the sizes are those of before.
    const bool by_tree = known.manifest() != nullptr && (known.binds || settings_.force);
    if (by_tree) {
      by_manifest(known);
    } else {
      by_fragments();
    }
    const bool all_here = by_tree && plan_.told.to_fetch.files == 0;
    if (!all_here && recipe_.fragments.empty() && !recipe_.git) refuse_without_sources();
    return std::move(plan_);
  }

 private:
  void add_sources() {
    for (const auto& fragment : recipe_.fragments) {
      first_source_.push_back(plan_.told.sources.size());
      for (const auto& url : fragment.urls) {
        const Url used = rewritten(url, settings_.rewrites);
        PlannedSource source;
        source.fragment = fragment.id;
        source.url = used.display();
        plan_.urls.push_back(used);
        source.readable = settings_.fetchers == nullptr || settings_.fetchers->find(used.scheme()) != nullptr;
        plan_.told.sources.push_back(std::move(source));
      }
    }
    if (recipe_.git) plan_.told.sources.emplace_back().url = recipe_.git->origin;
  }

  void refuse_without_sources() {
    plan_.told.steps = recipe_.access.steps;
    plan_.told.refused = Failure{
        FailureKind::access, recipe_.name + " has no source that a program can read",
        plan_.told.steps.empty() ? fmt::format("see `{}`", verb_text("info")) : "follow its steps first", std::nullopt};
  }

  void by_manifest(const KnownTree& known) {
    PlannedAsset& told = plan_.told;
    const Manifest& manifest = *known.manifest();
    const Totals totals = manifest.totals();
    if (!known.narrowed) told.manifest = manifest.root().prefixed();
    const Standing standing(settings_.force ? nullptr : store_, totals.files);
    Footprint footprint(store_, totals.files);
    std::set<Digest> coming;
    manifest.for_each([&](const Entry& entry) {
      if (!entry.is_file() || (known.narrowed && !selects(told.selection, entry.path))) return;
      const std::uint64_t size = entry.digest.size_bytes;
      const auto place = standing.place_of(entry.digest);
      if (place == Standing::Place::copied) footprint.add_file(size);
      if (place != Standing::Place::nowhere) return add(level_of(known.level), 1, size);
      const bool once = known.binds;  // content that is learnt anew may differ, and each name of it is asked for
      if (once && !coming.insert(entry.digest).second) return add(told.by_content, 1, size);
      add(told.to_fetch, 1, size);
      footprint.add_file(size, add_chunks(manifest, entry));
      if (entry.type == EntryType::executable) footprint.add_copy(size);
      if (size > told.biggest_bytes) note_biggest(size, entry.path.text());
    });
    if (told.to_fetch.files > 0) {
      footprint.add_view(totals);
      for (const auto& fragment : recipe_.fragments) {  // a packed file stands there while it is unpacked
        if (fragment.type == FragmentType::archive) footprint.add_file(fragment.size_bytes.value_or(0));
      }
    }
    told.store_bytes = footprint.bytes();
    told.store_inodes = footprint.inodes();
  }

  // Of a file to fetch: what arrived earlier, and what other objects hold. Returns what it holds of the disk.
  std::uint64_t add_chunks(const Manifest& manifest, const Entry& entry) {
    const std::uint64_t size = entry.digest.size_bytes;
    if (size <= chunk_size_bytes || settings_.force || store_ == nullptr) return 0;
    if (!index_) index_.emplace(*store_).build(entry.path.text());
    const auto chunks = manifest.chunks(entry);
    const auto arrived = chunks_arrived(*store_, entry.digest, chunks);
    for (std::uint64_t i = 0; i < chunks.size(); ++i) {
      const std::uint64_t length = chunk_length(size, i);
      if (arrived[i]) {
        plan_.told.in_partials_bytes += length;
      } else if (!index_->find(chunks[i], length).empty()) {
        plan_.told.by_chunk_bytes += length;
      }
    }
    return std::min(size, store_->held(entry.digest));
  }

  void by_fragments() {
    const FragmentChoices choices(recipe_, request_,
                                  {.store = store_,
                                   .fetchers = settings_.fetchers,
                                   .rewrites = settings_.rewrites,
                                   .force = settings_.force,
                                   .expected = nullptr});
    for (const Fragment* fragment : choices.chosen()) {
      const FragmentChoice choice = choices.of(*fragment);
      if (!is_here(choice)) add_missing(choice, choices);
    }
    if (recipe_.git) ++plan_.told.files_without_size;
  }

  // As the fetch finds it, but that no content is read. A source that can be asked whether its version is still the one
  // that is here is taken to say so.
  bool is_here(const FragmentChoice& choice) {
    if (store_ == nullptr || settings_.force) return false;
    return stands(choice.tree) || (choice.way == FragmentWay::file && stands(choice.job, Standing(store_, 1))) ||
           stands(choice.before);
  }

  bool stands(const std::optional<Manifest>& tree) {
    if (!tree) return false;
    const Totals totals = tree->totals();
    const Standing standing(store_, totals.files);
    bool all = true;
    tree->for_each([&](const Entry& entry) { all = all && (!entry.is_file() || standing.has(entry.digest)); });
    if (all) add(plan_.told.by_source, totals.files, totals.bytes);
    return all;
  }

  bool stands(const FileJob& job, const Standing& standing) {
    return any_candidate(*store_, job, request_.refresh, [&](const Candidate& candidate) {
      if (!standing.has(candidate.digest)) return false;
      add(level_of(candidate.level), 1, candidate.digest.size_bytes);
      return true;
    });
  }

  void add_missing(const FragmentChoice& choice, const FragmentChoices& choices) {
    PlannedAsset& told = plan_.told;
    const bool archive = choice.way == FragmentWay::archive;
    const bool names_more = choice.way == FragmentWay::list || choice.way == FragmentWay::resolver;
    if (choice.way == FragmentWay::list && add_listed(choice, choices)) return;
    if (choice.way == FragmentWay::members) {  // how much of it is known to its sources alone
      ++told.files_without_size;
      return;
    }
    if (archive) ++told.archives;
    if (names_more) ++told.lists;
    if (names_more && !choice.job.size_bytes) {  // a list is small; what it names is not known
      ++told.to_fetch.files;
      return;
    }
    Footprint footprint(store_, 1);
    const std::string& id = choice.fragment->id;
    if (add_job(choice.job, id, footprint)) {
      if (archive) footprint.add_file(*choice.job.size_bytes);  // what comes out of it, at least
      return take(footprint);
    }
    const auto number = static_cast<std::size_t>(choice.fragment - recipe_.fragments.data());
    plan_.unsized.push_back({id, choice.job.urls, first_source_[number], archive});
  }

  // Adds the files of a list that is here; false: the list is not here, or the fragment is no list.
  bool add_listed(const FragmentChoice& choice, const FragmentChoices& choices) {
    if (store_ == nullptr || settings_.force) return false;
    std::vector<ListedFile> listed;
    const Standing one(store_, 1);
    const bool read = any_candidate(*store_, choice.job, request_.refresh, [&](const Candidate& candidate) {
      const auto text = one.has(candidate.digest) ? store_->text_of(candidate.digest, document_size_max) : std::nullopt;
      if (!text) return false;
      try {
        listed = parse_list(*text, *choice.fragment);
        name_listing(listed, choice.fragment->urls.front(), candidate.reach);
      } catch (const Error& error) {
        if (error.failure().kind != FailureKind::invalid) throw;
        return false;
      }
      add(level_of(candidate.level), 1, candidate.digest.size_bytes);
      return true;
    });
    if (!read) return false;
    choices.choose(*choice.fragment, listed);
    const Standing standing(store_, listed.size());
    Footprint footprint(store_, listed.size());
    for (const auto& file : listed) {
      const FileJob job = choices.job_of(*choice.fragment, file);
      if (!stands(job, standing)) static_cast<void>(add_job(job, job.name, footprint));
    }
    take(footprint);
    return true;
  }

  // Something to fetch. False: its size is not known.
  bool add_job(const FileJob& job, const std::string& name, Footprint& footprint) {
    if (!job.size_bytes) {
      ++plan_.told.files_without_size;
      return false;
    }
    const std::uint64_t size = *job.size_bytes;
    const bool keeps = store_ != nullptr && !settings_.force;
    const std::uint64_t held = keeps ? std::min(size, store_->held(source_key(job))) : 0;
    plan_.told.in_partials_bytes += held;
    add(plan_.told.to_fetch, 1, size);
    footprint.add_file(size, held);
    if (size > plan_.told.biggest_bytes) note_biggest(size, name);
    return true;
  }

  void take(const Footprint& footprint) {
    plan_.told.store_bytes += footprint.bytes();
    plan_.told.store_inodes += footprint.inodes();
  }

  void note_biggest(std::uint64_t size, const std::string& name) {
    plan_.told.biggest_bytes = size;
    plan_.told.biggest_path = name;
  }

  FilesAndBytes& level_of(Reuse level) { return level == Reuse::source ? plan_.told.by_source : plan_.told.by_content; }

  // To what the asset has, and to where that stands or comes from.
  void add(FilesAndBytes& part, std::uint64_t files, std::uint64_t bytes) {
    for (auto* sum : {&plan_.told.all, &part}) {
      sum->files += files;
      sum->bytes += bytes;
    }
  }

  Store* store_;
  const Recipe& recipe_;
  const AssetRequest& request_;
  const PlanSettings& settings_;
  AssetPlan plan_;
  std::optional<ChunkIndex> index_;        // of what the store holds, once a large file is missing
  std::vector<std::size_t> first_source_;  // by fragment
};

}  // namespace

AssetPlan plan_asset(Store* store, const Recipe& recipe, const AssetRequest& request, const PlanSettings& settings) {
  return Planner(store, recipe, request, settings).run();
}

void add_size(AssetPlan& plan, Store* store, const UnsizedFile& file, std::uint64_t size_bytes) {
  PlannedAsset& told = plan.told;
  --told.files_without_size;
  for (auto* sum : {&told.all, &told.to_fetch}) {
    ++sum->files;
    sum->bytes += size_bytes;
  }
  Footprint footprint(store, 1);
  footprint.add_file(size_bytes);
  if (file.archive) footprint.add_file(size_bytes);
  told.store_bytes += footprint.bytes();
  told.store_inodes += footprint.inodes();
  if (size_bytes <= told.biggest_bytes) return;
  told.biggest_bytes = size_bytes;
  told.biggest_path = file.name;
}

AssetRecord dry_run_record(const AssetPlan& plan) {
  const PlannedAsset& told = plan.told;
  AssetRecord record;
  record.name = told.name;
  record.kind = told.kind;
  record.manifest = told.manifest;
  record.selection = told.selection;
  record.files = told.all.files + told.files_without_size;
  record.bytes = told.all.bytes;
  record.reused = {told.by_source.bytes, told.by_content.bytes, told.by_chunk_bytes, told.in_partials_bytes};
  if (told.sizes_known()) record.to_fetch_bytes = told.bytes_to_move();
  if (told.refused) record.failures.push_back({told.name, *told.refused});
  for (const auto& source : told.sources) record.sources.push_back({source.url, 0, 0, 0, false, ""});
  return record;
}

}  // namespace sabath
