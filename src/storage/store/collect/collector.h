// One collection, step by step; see collect.h. Private to src/storage/store. One thread. Throws Error{space},
// Error{storage}, Error{interrupted}.
#pragma once

#include <map>
#include <set>
#include <string>

#include "store/collect/collect.h"
#include "store/collect/collect_plan.h"
#include "store/collect/removal.h"
#include "store/collect/survey.h"
#include "store/objects/trash.h"

namespace sabath {

class Collector {
 public:
  Collector(Store::State& store, const CollectPolicy& policy, std::stop_token stop);
  CollectReport run();
  RemovalReport remove(const RemovedAsset& asset);  // instead of run()

 private:
  void report_plan(const Survey& survey, const CollectPlan& plan);
  void discard(const Survey& survey, const CollectPlan& plan);
  void discard_asset(const CollectPlan::Victim& victim, const Survey& survey);
  void discard_names(const CollectPlan::Victim& victim, const Root& root);
  void discard_objects(const std::vector<std::uint32_t>& objects, const Survey& survey);
  void rewrite_packs(const Survey& survey);  // without those members that were discarded
  void rewrite_pack(const Survey& survey, std::uint32_t number);
  void merge_small_packs();
  void discard_partials();
  // Content that is neither asset nor partial is chosen first: its going leaves more room to assets.
  void choose_others(const Survey& survey);
  void discard_others();
  void discard_lost_links();  // of by-name/
  void remove_leftovers(const Survey& survey);
  [[nodiscard]] bool begun_to_be_used(const Sha256& root, std::int64_t since_ns) const;
  // This user's view and refs of content that stays for others; what that frees on the disk. Nothing of it goes to the
  // trash: the next fetch makes them again, and moves no byte.
  std::uint64_t let_go(const Sha256& id, const Root& root);

  // The trash: content in use again goes back; content that was not missed for long is deleted.
  void settle_batches();
  void restore_used(const Batch& batch);
  bool try_empty(Batch& batch, const std::vector<FoundLease>& leases);  // false: a process may have seen its content
  void empty(Batch& batch);
  [[nodiscard]] std::uint64_t content_bytes(const Batch& batch);
  void wait_for_other_nodes();
  void check_stop() const;
  Batch& batch();  // made when the first thing goes into it

  Store::State& store_;
  CollectPolicy policy_;  // its sizes: less what the kept others take
  const std::stop_token stop_;
  std::int64_t now_ns_;
  std::optional<Batch> batch_;
  std::vector<bool> dead_;  // by the survey's number: discarded, and in a pack
  CollectReport report_;
};

// A partial's directory: its last change, its size on disk, and whether one of its writers lives.
struct PartialState {
  std::int64_t changed_ns = 0;
  std::uint64_t bytes = 0;
  bool alive = false;
};
[[nodiscard]] PartialState look_at_partial(const std::filesystem::path& directory, const HostId& here);

// nullopt: it is damaged or gone.
[[nodiscard]] std::optional<Manifest> try_open_manifest(const std::filesystem::path& file);
// What a view has for itself: files that are no links to objects.
[[nodiscard]] std::uint64_t own_bytes_of(const std::filesystem::path& view);
// Removes a view in the trash; other hard links to its objects' inodes keep their evidence.
void remove_view(Store::State& store, const std::filesystem::path& view, const std::optional<Manifest>& manifest);

}  // namespace sabath
