#include "store/collect/collect_plan.h"

#include <algorithm>
#include <limits>
#include <map>

#include "store/disk/owners.h"

namespace sabath {
namespace {

constexpr std::uint32_t nobody = 0, everybody = std::numeric_limits<std::uint32_t>::max();

class Planner {
 public:
  Planner(const Survey& survey, const CollectPolicy& policy)
      : survey_(survey), policy_(policy), owner_(survey.objects.size(), nobody), restorable_(survey.objects.size()) {}

  CollectPlan plan(const std::function<bool(std::uint32_t)>& old_enough) {
    find_restorable();
    rank();
    find_owners();
    if (!survey_.blind) take_unnamed(old_enough);
    const std::size_t count = choose();
    for (std::size_t i = 0; i < count; ++i) {
      const bool aged = ranked_[i].used_ns <= old();
      plan_.assets.push_back({ranked_[i].id, {}, freed_[i], aged ? "not used for long" : "least recently used"});
    }
    for (std::uint32_t object = 0; object < owner_.size(); ++object) {
      if (owner_[object] != nobody && owner_[object] <= count)
        plan_.assets[owner_[object] - 1].objects.push_back(object);
    }
    return std::move(plan_);
  }

 private:
  struct Ranked {
    Sha256 id;
    const Root* root;
    std::int64_t used_ns;
  };

  void find_restorable() {
    for (std::uint32_t i = 0; i < restorable_.size(); ++i) restorable_[i] = survey_.objects.linked(i);
    for (const auto& [id, root] : survey_.roots) {
      if (!root.restorable) continue;
      for (const std::uint32_t object : root.objects) restorable_[object] = true;
    }
  }

  [[nodiscard]] std::string why_kept(const Root& root) const {
    if (root.pinned) return "kept";
    if (!root.in_use.empty()) return "in use by " + root.in_use;
    if (root.young) return "just made";
    const bool lost = std::ranges::any_of(
        root.objects, [&](std::uint32_t object) { return !restorable_[object] && survey_.objects.bytes(object) > 0; });
    return lost && !policy_.force_local ? "no source can restore it" : "";
  }

  [[nodiscard]] bool is_adopted(const Root& root) const {
    return !root.objects.empty() &&
           std::ranges::all_of(root.objects, [&](std::uint32_t object) { return survey_.objects.linked(object); });
  }

  // By other members; nothing: by none.
  [[nodiscard]] std::optional<CollectPlan::Kept> try_keep(const Sha256& id, const Root& root,
                                                          std::int64_t used_ns) const {
    std::string why = why_kept(root);
    if (why.empty() && used_ns > old() && is_adopted(root)) why = "adopted: no space of the store would be freed";
    if (!why.empty()) return CollectPlan::Kept{id, std::move(why), 0, false};
    const std::int64_t until =
        kept_by_others_until(root, used_ns, survey_.now_ns, std::chrono::nanoseconds(policy_.use()).count());
    if (until != 0) return CollectPlan::Kept{id, "in use by " + users_text(root.others), until, false};
    if (root.closed.empty()) return std::nullopt;
    return CollectPlan::Kept{id, "unused, but in a view of " + users_text(root.closed), 0, true};
  }

  // A tree without a view is part of other trees, or was learnt from a fragment: it is in use as long as they hold all
  // of its objects, and goes with them.
  [[nodiscard]] std::int64_t last_use(const Root& root, const std::vector<std::int64_t>& object_use) const {
    if (root.view || root.objects.empty()) return root.used_ns;
    std::int64_t least = INT64_MAX;
    for (const std::uint32_t object : root.objects) least = std::min(least, object_use[object]);
    return std::max(root.used_ns, least);
  }

  void rank() {
    std::vector<std::int64_t> object_use(survey_.objects.size(), 0);
    for (const auto& [id, root] : survey_.roots) {
      const bool holds_on = root.pinned || !root.in_use.empty();
      if (!root.view && !holds_on) continue;
      for (const std::uint32_t object : root.objects) {
        object_use[object] = std::max(object_use[object], holds_on ? survey_.now_ns : root.used_ns);
      }
    }
    for (const auto& [id, root] : survey_.roots) {
      const std::int64_t used_ns = last_use(root, object_use);
      auto kept = try_keep(id, root, used_ns);
      if (!kept) {
        ranked_.push_back({id, &root, used_ns});
        continue;
      }
      for (const std::uint32_t object : root.objects) owner_[object] = everybody;
      protected_.push_back({*std::move(kept), used_ns});
    }
    std::ranges::stable_sort(ranked_, {}, &Ranked::used_ns);
  }

  void find_owners() {
    freed_.resize(ranked_.size());
    for (std::uint32_t i = 0; i < ranked_.size(); ++i) {
      for (const std::uint32_t object : ranked_[i].root->objects) owner_[object] = std::max(owner_[object], i + 1);
    }
    for (std::uint32_t object = 0; object < owner_.size(); ++object) {
      if (owner_[object] == nobody || owner_[object] == everybody) continue;
      freed_[owner_[object] - 1] += survey_.objects.bytes(object);
    }
  }

  void take_unnamed(const std::function<bool(std::uint32_t)>& old_enough) {
    for (std::uint32_t object = 0; object < owner_.size(); ++object) {
      if (owner_[object] != nobody || !old_enough(object)) continue;
      plan_.unnamed.push_back(object);
      plan_.unnamed_bytes += survey_.objects.bytes(object);
    }
  }

  [[nodiscard]] std::int64_t old() const {
    if (!policy_.older_than) return INT64_MIN;
    return survey_.now_ns - std::chrono::nanoseconds(*policy_.older_than).count();
  }

  // How many of the ranked go.
  std::size_t choose() {
    std::size_t count = 0;
    std::uint64_t left = survey_.objects.total_bytes() - plan_.unnamed_bytes;
    const auto take = [&] { left -= freed_[count++]; };
    while (count < ranked_.size() && ranked_[count].used_ns <= old()) take();
    const bool pressed = policy_.size_max && left > *policy_.size_max;
    const std::uint64_t goal = pressed ? policy_.size_low.value_or(*policy_.size_max) : UINT64_MAX;
    while (count < ranked_.size() && left > goal) take();
    for (auto& [kept, used_ns] : protected_) {
      if (used_ns <= old() || left > goal) plan_.kept.push_back(std::move(kept));
    }
    name_keepers();
    return count;
  }

  // Of the assets that stay because of other members, how much each keeps: an object that two of his assets share once.
  void name_keepers() {
    std::map<unsigned, std::vector<bool>> seen;
    std::map<unsigned, CollectReport::Keeper> keepers;
    for (const auto& kept : plan_.kept) {
      const Root& root = survey_.roots.at(kept.root);
      if (kept.until_ns == 0 && !kept.let_go) continue;
      for (const unsigned user : kept.let_go ? root.closed : root.others) {
        auto& keeper = keepers.try_emplace(user, CollectReport::Keeper{user}).first->second;
        auto& counted = seen.try_emplace(user, std::vector<bool>(survey_.objects.size())).first->second;
        ++keeper.assets;
        for (const std::uint32_t object : root.objects) {
          if (counted[object]) continue;
          counted[object] = true;
          keeper.bytes += survey_.objects.bytes(object);
          if (kept.let_go) keeper.unused_bytes += survey_.objects.bytes(object);
        }
      }
    }
    for (const auto& [user, keeper] : keepers) plan_.keepers.push_back(keeper);
  }

  const Survey& survey_;
  const CollectPolicy& policy_;
  std::vector<std::uint32_t> owner_;  // by object: 1 + the last ranked root that holds it
  std::vector<bool> restorable_;
  std::vector<Ranked> ranked_;
  std::vector<std::uint64_t> freed_;  // by rank
  std::vector<std::pair<CollectPlan::Kept, std::int64_t>> protected_;
  CollectPlan plan_;
};

}  // namespace

CollectPlan plan_collection(const Survey& survey, const CollectPolicy& policy,
                            const std::function<bool(std::uint32_t object)>& old_enough) {
  return Planner(survey, policy).plan(old_enough);
}

}  // namespace sabath
