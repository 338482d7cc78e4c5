#include "store/collect/removal.h"

#include <algorithm>
#include <vector>

#include "base/file.h"
#include "store/collect/collect_plan.h"
#include "store/collect/collector.h"
#include "store/disk/below.h"
#include "store/disk/listing.h"
#include "store/disk/owners.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

std::uint64_t blocks_of(const fs::path& file) {
  const auto s = try_lstat(file);
  return s ? bytes_on_disk(*s) : 0;
}

std::uint64_t room_on_disk(const Store::State& store, const ObjectTable& objects, std::uint32_t object) {
  return objects.pack(object) == StoredObject::no_pack ? blocks_of(objects.file(object, store.layout))
                                                       : objects.bytes(object);
}

bool knows_any(const Root& root, const std::set<Sha256>& keys) {
  return std::ranges::any_of(root.keys, [&](const Sha256& key) { return keys.contains(key); });
}

// Whether other members' use, or a view of theirs, keeps its content.
bool stays_for_others(const Survey& survey, const Root& root) {
  const std::int64_t use_ns = std::chrono::nanoseconds(CollectPolicy{}.use()).count();
  return kept_by_others_until(root, root.used_ns, survey.now_ns, use_ns) != 0 || !root.closed.empty();
}

bool is_chosen_part(const Sha256& id, const Root& root, const RemovedAsset& asset) {
  return asset.is_part && root.has_manifest && !knows_any(root, asset.others) && asset.is_part(id, root.keys);
}

// A tree without a view that only fragments of the asset name goes with it, and parts that were chosen of it.
bool goes_with(const Sha256& id, const Root& root, const RemovedAsset& asset) {
  if (is_chosen_part(id, root, asset)) return !root.pinned && !root.in_own_use;
  const bool own = std::ranges::all_of(root.keys, [&](const Sha256& key) { return asset.keys.contains(key); });
  return own && !knows_any(root, asset.others) && !root.keys.empty() && !root.view && !root.pinned && !root.in_own_use;
}

struct RemovalPlan {
  std::vector<CollectPlan::Victim> victims;  // the asset first, with all objects that go
  std::set<Sha256> for_others;               // of these: only this user's view and refs go
  std::vector<std::uint32_t> shared;         // its objects that stay
  bool restorable = true;                    // each that goes
  std::uint64_t parts = 0;                   // victims that were chosen of the asset
};

RemovalPlan plan_removal(const Survey& survey, const RemovedAsset& asset) {
  RemovalPlan plan;
  plan.victims.push_back({asset.root, {}, 0, "removed"});
  std::vector<bool> needed(survey.objects.size()), goes(survey.objects.size()), restorable(survey.objects.size());
  const Root& own = survey.roots.at(asset.root);
  for (const auto& [id, root] : survey.roots) {
    const bool part = id != asset.root && goes_with(id, root, asset);
    if (part) plan.victims.push_back({id, {}, 0, "removed"});
    const bool stays = (part || id == asset.root) && stays_for_others(survey, root);
    if (stays) plan.for_others.insert(id);
    const bool chosen = root.view && is_chosen_part(id, root, asset) && !knows_any(root, asset.keys);
    if (chosen && (part || id == asset.root)) ++plan.parts;
    auto& marks = (part || id == asset.root) && !stays ? goes : needed;
    for (const std::uint32_t object : root.objects) {
      marks[object] = true;
      if (root.restorable) restorable[object] = true;
    }
  }
  for (std::uint32_t object = 0; object < goes.size(); ++object) {
    if (!goes[object] || needed[object]) continue;
    plan.victims.front().objects.push_back(object);
    const bool lasting = restorable[object] || survey.objects.linked(object) || survey.objects.bytes(object) == 0;
    plan.restorable = plan.restorable && lasting;
  }
  std::ranges::copy_if(own.objects, std::back_inserter(plan.shared), [&](std::uint32_t o) { return needed[o]; });
  return plan;
}

std::string why_it_stays(const Root& root, const RemovedAsset& asset) {
  if (root.pinned) return "kept";
  if (root.in_own_use) return "in use by " + root.in_use;
  return asset.pinned_elsewhere || knows_any(root, asset.others) ? "another asset is the same content" : "";
}

void tell_users(RemovalReport& removal, const Root& root, std::int64_t now_ns) {
  const std::int64_t use_ns = std::chrono::nanoseconds(CollectPolicy{}.use()).count();
  removal.until_ns = kept_by_others_until(root, root.used_ns, now_ns, use_ns);
  removal.users = removal.until_ns == 0 ? root.closed : root.others;
  removal.used_by = users_text(removal.users);
  if (removal.until_ns == INT64_MAX) removal.used_by += ": " + root.in_use;
}

std::set<fs::path> pack_files(Store::State& store) {
  std::set<fs::path> files;
  for (const auto& pack : store.packs.all()) files.insert(pack->file);
  return files;
}

}  // namespace

RemovalReport Collector::remove(const RemovedAsset& asset) {
  RemovalReport removal;
  now_ns_ = server_now(store_.temporaries);
  const auto packs_before = pack_files(store_);
  bool deleted = policy_.now;
  {
    const Survey survey = make_survey(store_, now_ns_, std::chrono::nanoseconds(policy_.grace).count());
    const auto root = survey.roots.find(asset.root);
    if (root == survey.roots.end() || !root->second.has_manifest) return removal;
    removal.why_kept = why_it_stays(root->second, asset);
    removal.pinned = root->second.pinned;
    const RemovalPlan plan = plan_removal(survey, asset);
    const bool stays = plan.for_others.contains(asset.root);
    if (removal.why_kept.empty() && !stays && begun_to_be_used(asset.root, now_ns_))
      removal.why_kept = "in use since a moment ago";
    if (!removal.why_kept.empty()) return removal;
    deleted = deleted || plan.restorable;
    removal.parts = plan.parts;
    std::uint64_t& staying = stays ? removal.used_bytes : removal.shared_bytes;
    for (const std::uint32_t object : plan.shared) staying += room_on_disk(store_, survey.objects, object);
    if (stays) tell_users(removal, root->second, survey.now_ns);
    for (const auto& victim : plan.victims) {
      if (plan.for_others.contains(victim.root))
        removal.freed_bytes += let_go(victim.root, survey.roots.at(victim.root));
      else
        discard_names(victim, survey.roots.at(victim.root));
      discard_objects(victim.objects, survey);
    }
    if (stays && !asset.name.empty()) unlink_below(store_.layout.root(), store_.layout.names() / asset.name);
    discard_lost_links();
    for (std::uint32_t number = 0; number < survey.objects.packs().size(); ++number) rewrite_pack(survey, number);
  }
  store_.evidence.flush();
  if (!batch_) return removal;
  wait_for_other_nodes();
  restore_used(*batch_);
  store_.trash.end(*batch_);
  now_ns_ = server_now(store_.temporaries);
  const std::uint64_t moved = content_bytes(*batch_);
  if (deleted && try_empty(*batch_, read_leases(store_.layout, store_.writer.host, now_ns_))) {
    removal.freed_bytes += moved;
  } else {
    removal.trash_bytes = moved;
    if (!report_.waiting.empty()) removal.waiting = report_.waiting.front();
  }
  std::uint64_t rewritten = 0;  // packs without the asset's files
  for (const auto& pack : pack_files(store_)) rewritten += packs_before.contains(pack) ? 0 : blocks_of(pack);
  removal.freed_bytes -= std::min(removal.freed_bytes, rewritten);
  store_.evidence.flush();
  return removal;
}

// As `du` counts it: objects and packs, and files of views that are no links to objects elsewhere.
std::uint64_t Collector::content_bytes(const Batch& batch) {
  std::uint64_t bytes = 0;
  std::set<std::uint64_t> seen;
  const auto count = [&](const fs::path& file) {
    const auto s = try_lstat(file);
    const bool other = !s || S_ISDIR(s->st_mode);
    if (other || (s->st_nlink > 1 && !seen.insert(s->st_ino).second)) return;
    bytes += bytes_on_disk(*s);
  };
  for (const char* room : {"objects", "packs"}) for_each_file_below(batch.directory / room, count);
  for (const auto& room : list_directory(batch.directory))
    if (room.stem() == store_.layout.views().stem()) bytes += own_bytes_of(room);
  return bytes;
}

std::uint64_t own_bytes_of(const fs::path& view) {
  std::uint64_t bytes = 0;
  for_each_file_below(view, [&](const fs::path& file) {
    const auto s = try_lstat(file);
    if (s && (s->st_nlink == 1 || !S_ISREG(s->st_mode))) bytes += bytes_on_disk(*s);
  });
  return bytes;
}

AssetRoom room_of(Store& store, const RemovedAsset& asset) {
  Store::State& state = store.state();
  const Survey survey = make_survey(state, server_now_or_ours(state.temporaries),
                                    std::chrono::nanoseconds(CollectPolicy{}.grace).count());
  AssetRoom room;
  const auto root = survey.roots.find(asset.root);
  if (root == survey.roots.end()) return room;
  room.files = root->second.files;
  room.bytes = root->second.bytes;
  const auto sum = [&](const std::vector<std::uint32_t>& objects) {
    std::uint64_t bytes = 0;
    for (const std::uint32_t object : objects) bytes += room_on_disk(state, survey.objects, object);
    return bytes;
  };
  room.stored_bytes = sum(root->second.objects);
  if (why_it_stays(root->second, asset).starts_with("another")) return room;
  room.alone_bytes = sum(plan_removal(survey, asset).victims.front().objects);
  room.view_bytes = own_bytes_of(state.layout.view(asset.root));
  return room;
}

std::vector<Sha256> parts_of(Store& store, const RemovedAsset& asset) {
  Store::State& state = store.state();
  const Survey survey = make_survey(state, server_now_or_ours(state.temporaries),
                                    std::chrono::nanoseconds(CollectPolicy{}.grace).count());
  std::vector<Sha256> parts;
  for (const auto& [id, root] : survey.roots) {
    if (id != asset.root && is_chosen_part(id, root, asset)) parts.push_back(id);
  }
  return parts;
}

RemovalReport remove_asset(Store& store, const RemovedAsset& asset, bool now, const std::stop_token& stop) {
  CollectPolicy policy;
  policy.now = now;
  policy.whole_packs = false;
  return Collector(store.state(), policy, stop).remove(asset);
}

}  // namespace sabath
