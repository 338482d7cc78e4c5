// What is known and what is here, without asking anybody.
#include "fetch/plan.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/file.h"
#include "fetch/at_hand.h"
#include "fetch/selection.h"
#include "fetch/source_key.h"
#include "store/arrived.h"
#include "store/chunk_index.h"
#include "store/footprint.h"

namespace sabath {

bool all_present(Store& store, const Manifest& manifest) {
  bool present = true;
  manifest.for_each([&](const Entry& entry) {
    if (present && entry.is_file()) present = store.present(entry.digest);
  });
  return present;
}

std::optional<Sha256> known_root(const Store& store, const Recipe& recipe, const std::optional<ManifestPin>& pin) {
  if (pin) return pin->digest;
  if (recipe.manifest) return recipe.manifest->digest;
  const auto learnt = learnt_of(store, recipe);
  return learnt && learnt->doubt.empty() ? std::optional(learnt->ref.root) : std::nullopt;
}

namespace {

class Planner {
 public:
  Planner(Store* store, const Recipe& recipe, const AssetRequest& request, const PlanSettings& settings)
      : store_(store), recipe_(recipe), request_(request), settings_(settings) {
    plan_.told.name = recipe.name;
    plan_.told.kind = recipe.kind;
    plan_.told.selection = recipe.fragments.empty() ? Selection{} : request.selection;
  }

  AssetPlan run() {
    add_sources();
    const auto here = known_manifest();
    const Manifest* const manifest = here ? &*here : pinned();
    if (manifest != nullptr) {
      by_manifest(*manifest);
    } else if (plan_.told.selection.empty()) {
      for (std::size_t i = 0; i < recipe_.fragments.size(); ++i) by_fragment(recipe_.fragments[i]);
      if (recipe_.git) ++plan_.told.files_without_size;
    } else {
      ++plan_.told.files_without_size;  // how much of it is known to its sources alone
    }
    const bool all_here = manifest != nullptr && plan_.told.to_fetch.files == 0;
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
    plan_.told.refused =
        Failure{FailureKind::access, recipe_.name + " has no source that a program can read",
                plan_.told.steps.empty() ? "see `sabath info`" : "follow its steps first", std::nullopt};
  }

  // Of the part that was asked for, or, where patterns choose it, of the whole: those entries are passed by.
  std::optional<Manifest> known_manifest() {
    if (store_ == nullptr) return std::nullopt;
    const auto& pin = request_.pin ? request_.pin : recipe_.manifest;
    const Selection& selection = plan_.told.selection;
    const auto digest = pin ? std::optional(pin->digest) : std::nullopt;
    const auto ref =
        store_->ref(pin && selection.empty() ? pinned_key(recipe_, pin->digest)
                                             : source_key(recipe_, store_->source_names(), selection, digest));
    learnt_ = ref.has_value();
    const auto root = selection.empty() && pin ? digest : ref ? std::optional(ref->root) : std::nullopt;
    auto manifest = root ? store_->manifest(*root) : std::nullopt;
    if (manifest || selection.empty() || selection.sample) return manifest;
    const auto whole = known_root(*store_, recipe_, request_.pin);
    manifest = whole ? store_->manifest(*whole) : std::nullopt;
    chosen_ = manifest.has_value();
    return manifest;
  }

  // What the recipe pins, asked for by the caller; a sample's order only its sources know.
  const Manifest* pinned() {
    if (settings_.pinned == nullptr || plan_.told.selection.sample) return nullptr;
    chosen_ = !plan_.told.selection.empty();
    return settings_.pinned;
  }

  void by_manifest(const Manifest& manifest) {
    PlannedAsset& told = plan_.told;
    const Totals totals = manifest.totals();
    if (!chosen_) told.manifest = manifest.root().prefixed();
    const Standing standing(settings_.force ? nullptr : store_, totals.files);
    Footprint footprint(store_, totals.files);
    std::set<Digest> coming;
    manifest.for_each([&](const Entry& entry) {
      if (!entry.is_file() || (chosen_ && !selects(told.selection, entry.path))) return;
      const std::uint64_t size = entry.digest.size_bytes;
      add(told.all, size);
      const auto place = standing.place_of(entry.digest);
      if (place == Standing::Place::copied) footprint.add_file(size);
      if (place != Standing::Place::nowhere) return add(learnt_ ? told.by_source : told.by_content, size);
      if (!coming.insert(entry.digest).second) return add(told.by_content, size);  // it comes once
      add(told.to_fetch, size);
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

  void by_fragment(const Fragment& fragment) {
    PlannedAsset& told = plan_.told;
    if (store_ != nullptr && !settings_.force) {
      const auto ref = store_->ref(source_key(fragment, store_->source_names()));
      const auto manifest = ref ? store_->manifest(ref->root) : std::nullopt;
      if (manifest && all_standing(*manifest)) {
        const Totals totals = manifest->totals();
        for (auto* sum : {&told.all, &told.by_source}) {
          sum->files += totals.files;
          sum->bytes += totals.bytes;
        }
        return;
      }
      if (fragment.type == FragmentType::file && stands(fragment)) return;
    }
    if (fragment.type == FragmentType::file_list) ++told.lists;
    if (fragment.type == FragmentType::archive) ++told.archives;
    UnsizedFile file{
        fragment.id, {}, first_source_[static_cast<std::size_t>(&fragment - recipe_.fragments.data())], false};
    file.archive = fragment.type == FragmentType::archive;
    for (const auto& url : fragment.urls) file.urls.push_back(rewritten(url, settings_.rewrites));
    if (fragment.size_bytes) {
      const std::uint64_t held = store_ == nullptr || settings_.force
                                     ? 0
                                     : std::min(*fragment.size_bytes, store_->held(source_key(job_of(fragment))));
      told.in_partials_bytes += held;
      add_file(fragment.id, *fragment.size_bytes, held, file.archive);
    } else if (fragment.type == FragmentType::file_list) {
      ++told.to_fetch.files;  // a list is small; what it names is not known
    } else {
      ++told.files_without_size;
      plan_.unsized.push_back(std::move(file));
    }
  }

  void add_file(const std::string& name, std::uint64_t size, std::uint64_t held, bool archive) {
    plan_.told.all.files += 1;
    plan_.told.all.bytes += size;
    add(plan_.told.to_fetch, size);
    Footprint footprint(store_, 1);
    footprint.add_file(size, held);
    if (archive) footprint.add_file(size);  // what comes out of it, at least
    plan_.told.store_bytes += footprint.bytes();
    plan_.told.store_inodes += footprint.inodes();
    if (size > plan_.told.biggest_bytes) note_biggest(size, name);
  }

  // A file that its source gave before, or that another gave: by a published checksum computed here.
  bool stands(const Fragment& fragment) {
    PlannedAsset& told = plan_.told;
    const Standing standing(store_, 1);
    const auto take = [&](const std::optional<Digest>& digest, FilesAndBytes& level) {
      if (!digest || !standing.has(*digest)) return false;
      add(told.all, digest->size_bytes);
      add(level, digest->size_bytes);
      return true;
    };
    const FileJob job = job_of(fragment);
    const auto arrival = arrived(*store_, job);
    if (arrival && take(arrival->digest, told.by_source)) return true;
    for (const auto& algorithm : checksum_algorithms) {
      const std::string& hex = fragment.checksum.*algorithm.value;
      if (algorithm.finds && !hex.empty() && take(store_->alias(algorithm.name, hex), told.by_content)) return true;
    }
    if (fragment.checksum.empty()) return false;
    return std::ranges::any_of(hints_of(*store_, job), [&](const Digest& hint) {  // the fetch reads it first
      return fragment.size_bytes.value_or(hint.size_bytes) == hint.size_bytes && take(hint, told.by_content);
    });
  }

  // As the fetch asks for it.
  [[nodiscard]] FileJob job_of(const Fragment& fragment) const {
    FileJob job;
    job.urls = fragment.urls;
    job.source = fragment.urls.front();
    if (store_ != nullptr && store_->source_names()) {
      for (const auto& url : fragment.urls) job.names.push_back(store_->source_names()(url));
    }
    job.size_bytes = fragment.size_bytes;
    job.checksum = fragment.checksum;
    return job;
  }

  [[nodiscard]] bool all_standing(const Manifest& manifest) const {
    const Standing standing(store_, manifest.totals().files);
    bool all = true;
    manifest.for_each([&](const Entry& entry) { all = all && (!entry.is_file() || standing.has(entry.digest)); });
    return all;
  }

  void note_biggest(std::uint64_t size, const std::string& name) {
    plan_.told.biggest_bytes = size;
    plan_.told.biggest_path = name;
  }

  static void add(FilesAndBytes& sum, std::uint64_t bytes) {
    ++sum.files;
    sum.bytes += bytes;
  }

  Store* store_;
  const Recipe& recipe_;
  const AssetRequest& request_;
  const PlanSettings& settings_;
  AssetPlan plan_;
  std::optional<ChunkIndex> index_;        // of what the store holds, once a large file is missing
  std::vector<std::size_t> first_source_;  // by fragment
  bool learnt_ = false;                    // from these very sources
  bool chosen_ = false;                    // the manifest is of the whole, and patterns choose from it
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
  for (const auto& source : told.sources) record.sources.push_back({source.url, 0, 0, 0, false, ""});
  return record;
}

}  // namespace sabath
