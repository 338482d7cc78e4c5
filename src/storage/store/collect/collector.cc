#include "store/collect/collector.h"

#include <fmt/format.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <system_error>

#include "base/file.h"
#include "base/wording.h"
#include "sabath/error.h"
#include "store/disk/below.h"
#include "store/disk/facts_names.h"
#include "store/disk/listing.h"
#include "store/space/reservation.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// Filesystems of one machine: all processes see a change at once. Elsewhere heartbeat and attribute cache matter.
constexpr std::array<std::uint32_t, 7> local_filesystems{0xEF53 /* ext4 */,
                                                         0x58465342 /* XFS */,
                                                         0x9123683E /* btrfs */,
                                                         0x01021994 /* tmpfs */,
                                                         0x2FC12FC1 /* ZFS */,
                                                         0x794C7630 /* overlay */,
                                                         0xF2F52010 /* f2fs */};
constexpr auto attribute_cache_max = std::chrono::seconds(60);

std::chrono::milliseconds settle_time(const Layout& layout) {
  struct statfs s {};
  const bool local =
      ::statfs(layout.root().c_str(), &s) == 0 &&
      std::ranges::find(local_filesystems, static_cast<std::uint32_t>(s.f_type)) != local_filesystems.end();
  return local ? std::chrono::milliseconds(0) : std::chrono::milliseconds(lease_beat + attribute_cache_max);
}

std::int64_t ns(std::chrono::nanoseconds duration) { return duration.count(); }

// `stage` made symlinks beside a node's store DIR/.sabath: removes those whose view is gone.
void remove_lost_names(const fs::path& root) {
  const fs::path store = root.has_filename() ? root : root.parent_path();  // "DIR/.sabath/"
  if (store.filename() != ".sabath") return;
  std::error_code error;
  for (fs::directory_iterator it(store.parent_path(), error), end; !error && it != end; it.increment(error)) {
    std::error_code none;
    const fs::path target = fs::read_symlink(it->path(), none);
    if (none || !try_parse_staged_link(target) || try_lstat(store.parent_path() / target)) continue;
    ::unlink(it->path().c_str());
  }
}

}  // namespace

Collector::Collector(Store::State& store, const CollectPolicy& policy, std::stop_token stop)
    : store_(store), policy_(policy), stop_(std::move(stop)), now_ns_(0) {}

void Collector::check_stop() const {
  if (!stop_.stop_requested()) return;
  throw Error(FailureKind::interrupted, "the collection was stopped",
              fmt::format("what it moved is in the trash; the next one goes on, and `{} {}` takes it back",
                          verb_text("gc"), option_text("undo")));
}

Batch& Collector::batch() {
  if (!batch_) batch_ = store_.trash.begin();
  return *batch_;
}

CollectReport Collector::run() {
  now_ns_ = server_now(store_.temporaries);
  if (!policy_.dry_run) settle_batches();
  {
    const Survey survey = make_survey(store_, now_ns_, ns(policy_.grace));
    std::map<std::uint32_t, bool> packs;
    const auto is_old = [&](std::uint32_t object) {
      const auto s = try_lstat(survey.objects.file(object, store_.layout));
      if (!s) return false;
      const std::int64_t placed = nanoseconds(s->st_ctim);
      return placed <= now_ns_ - ns(policy_.grace) && placed < survey.open_since_ns - clock_margin_ns;
    };
    choose_others(survey);
    const auto plan = plan_collection(survey, policy_, [&](std::uint32_t object) {
      const std::uint32_t pack = survey.objects.pack(object);
      if (pack == StoredObject::no_pack) return is_old(object);
      const auto [known, fresh] = packs.try_emplace(pack);
      if (fresh) known->second = is_old(object);
      return known->second;
    });
    report_plan(survey, plan);
    if (!policy_.dry_run) discard(survey, plan);
  }
  if (!policy_.dry_run && batch_) {
    store_.evidence.flush();
    wait_for_other_nodes();
    restore_used(*batch_);
    store_.trash.end(*batch_);
    remove_lost_names(store_.layout.root());
    if (policy_.now) {
      now_ns_ = server_now(store_.temporaries);
      settle_batches();
    }
  }
  store_.evidence.flush();
  return std::move(report_);
}

void Collector::report_plan(const Survey& survey, const CollectPlan& plan) {
  const auto tell = [&](const Sha256& id, std::uint64_t freed, const std::string& why) {
    const Root& root = survey.roots.at(id);
    return CollectReport::Asset{id, root.keys, root.source, root.files, root.bytes, freed, root.used_ns, why, 0};
  };
  report_.objects = survey.objects.size();
  report_.object_bytes = survey.objects.total_bytes();
  report_.unnamed_objects = plan.unnamed.size();
  report_.unnamed_bytes = plan.unnamed_bytes;
  for (const auto& kept : plan.kept) {
    report_.kept.push_back(tell(kept.root, 0, kept.why));
    report_.kept.back().until_ns = kept.until_ns;
  }
  report_.keepers = plan.keepers;
  if (survey.blind) {
    report_.notes.push_back(fmt::format(
        "a manifest is damaged or missing, so that what it names cannot be distinguished from what nothing names: no "
        "such object was collected; `{} {}` mends it",
        verb_text("verify"), option_text("repair")));
  }
  if (policy_.dry_run) {
    report_.collected_objects = plan.unnamed.size();
    report_.collected_bytes = plan.unnamed_bytes;
    for (const auto& victim : plan.assets) {
      report_.collected.push_back(tell(victim.root, victim.bytes, victim.why));
      report_.collected_objects += victim.objects.size();
      report_.collected_bytes += victim.bytes;
    }
    discard_partials();
  }
}

// Asked again right before an asset goes: a lease, pin or mark may have come since the survey.
bool Collector::begun_to_be_used(const Sha256& root, std::int64_t since_ns) const {
  if (const auto mark = used_at(store_.layout, root); mark && *mark >= since_ns) return true;
  const auto pins_it = [&](const fs::path& pin) { return try_parse_pin_name(pin.filename().native()) == root; };
  if (std::ranges::any_of(list_directory(store_.layout.pins()), pins_it)) return true;
  for (const auto& lease : read_leases(store_.layout, store_.writer.host, now_ns_)) {
    if (lease.live && std::ranges::find(lease.text.roots, root) != lease.text.roots.end()) return true;
  }
  return false;
}

void Collector::discard(const Survey& survey, const CollectPlan& plan) {
  for (const auto& victim : plan.assets) {
    check_stop();
    if (begun_to_be_used(victim.root, now_ns_)) {
      const Root& root = survey.roots.at(victim.root);
      report_.kept.push_back({victim.root, root.keys, root.source, root.files, root.bytes, 0, root.used_ns,
                              "in use since a moment ago", 0});
      continue;
    }
    discard_asset(victim, survey);
  }
  for (const auto& kept : plan.kept) {
    if (kept.let_go && !begun_to_be_used(kept.root, now_ns_)) let_go(kept.root, survey.roots.at(kept.root));
  }
  discard_objects(plan.unnamed, survey);
  for (const auto& loose : survey.loose) {
    check_stop();
    if (!begun_to_be_used(loose, now_ns_)) store_.trash.discard(batch(), store_.layout.manifest(loose));
  }
  discard_lost_links();
  rewrite_packs(survey);
  discard_others();
  discard_partials();
  remove_leftovers(survey);
}

void Collector::discard_asset(const CollectPlan::Victim& victim, const Survey& survey) {
  const Root& root = survey.roots.at(victim.root);
  discard_names(victim, root);
  report_.collected.push_back(
      {victim.root, root.keys, root.source, root.files, root.bytes, victim.bytes, root.used_ns, victim.why, 0});
  discard_objects(victim.objects, survey);
}

// The views go first: a user sees a tree whole, or not at all. Another member's ref that stays is a hint.
void Collector::discard_names(const CollectPlan::Victim& victim, const Root& root) {
  for (const auto& view : root.views) store_.trash.discard(batch(), view);
  for (const auto& ref : removable_refs(store_.layout, victim.root, root)) store_.trash.discard(batch(), ref);
  store_.trash.discard(batch(), store_.layout.manifest(victim.root));
}

std::uint64_t Collector::let_go(const Sha256& id, const Root& root) {
  const fs::path& top = store_.layout.root();
  const fs::path view = store_.layout.view(id), aside = store_.temporaries.new_name();
  std::uint64_t freed = 0;
  // Views of others may lead to the files of an owner whom all trust.
  if (!store_.owners.is_trusted_by_all() && try_lstat(view)) {
    rename_below(top, view, aside);
    freed = own_bytes_of(aside);
    remove_view(store_, aside, try_open_manifest(store_.layout.manifest(id)));
  }
  for (const auto& ref : removable_refs(store_.layout, id, root)) {
    if (is_below(ref, store_.layout.refs())) unlink_below(top, ref);
  }
  return freed;
}

void Collector::discard_objects(const std::vector<std::uint32_t>& objects, const Survey& survey) {
  constexpr std::size_t looks = 1024;  // objects between two looks at the stop request
  dead_.resize(survey.objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (i % looks == 0) check_stop();
    if (survey.objects.pack(objects[i]) != StoredObject::no_pack) {
      dead_[objects[i]] = true;
      continue;
    }
    if (!store_.trash.discard(batch(), store_.layout.object(survey.objects.digest(objects[i])))) continue;
    ++report_.collected_objects;
    report_.collected_bytes += survey.objects.bytes(objects[i]);
  }
}

void Collector::discard_partials() {
  std::error_code error;
  for (fs::directory_iterator it(store_.layout.partials(), error), end; !error && it != end; it.increment(error)) {
    const auto state = look_at_partial(it->path(), store_.writer.host);
    if (state.alive || now_ns_ - state.changed_ns < ns(policy_.partial_grace)) continue;
    if (!policy_.dry_run) {
      const auto in_trash = batch().directory / it->path().lexically_relative(store_.layout.root());
      if (!store_.trash.discard(batch(), it->path())) continue;
      // A fetch may have begun to use it in the same moment.
      if (look_at_partial(in_trash, store_.writer.host).changed_ns > state.changed_ns) {
        store_.trash.restore(batch(), in_trash);
        continue;
      }
    }
    ++report_.partials;
    report_.partial_bytes += state.bytes;
  }
}

// Removes what dead writers left and no process can want, without the trash.
void Collector::remove_leftovers(const Survey& survey) {
  for (const auto& lease : survey.leases) {
    if (!lease.live && unlink_below(store_.layout.root(), lease.file)) ++report_.leftovers;
  }
  report_.leftovers += remove_dead_reservations(store_);
  std::error_code error;
  for (fs::directory_iterator it(store_.layout.temporaries(), error), end; !error && it != end; it.increment(error)) {
    const auto writer = WriterId::try_parse(it->path().filename().native());
    const Life life = writer ? life_of(*writer, store_.writer.host) : Life::unknown;
    const auto s = try_lstat(it->path());
    if (!s || life == Life::alive) continue;
    const std::int64_t quiet = ns(std::max<std::chrono::nanoseconds>(policy_.grace, lease_silence_max));
    if (life == Life::unknown && now_ns_ - look_at_partial(it->path(), store_.writer.host).changed_ns < quiet) continue;
    remove_tree(it->path());
    ++report_.leftovers;
  }
  for (fs::directory_iterator it(store_.layout.used(), error), end; !error && it != end; it.increment(error)) {
    const auto root = Sha256::try_parse(it->path().filename().native());
    if (!root || survey.roots.contains(*root)) continue;  // the mark of an asset in the trash says whether it is missed
    const auto mark = used_at(store_.layout, *root);
    if (mark && now_ns_ - *mark > ns(policy_.undo_window) + ns(policy_.grace))
      unlink_below(store_.layout.root(), it->path());
  }
  for (fs::directory_iterator it(facts_room(store_.layout), error), end; !error && it != end; it.increment(error)) {
    const auto root = Sha256::try_parse(it->path().filename().native());
    if (root && !survey.roots.contains(*root) && !used_at(store_.layout, *root))
      unlink_below(store_.layout.root(), it->path());
  }
  store_.evidence.tidy();
  store_.arrivals.tidy();
}

void Collector::wait_for_other_nodes() {
  const auto time = policy_.settle.value_or(settle_time(store_.layout));
  if (time.count() == 0) return;
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  never.wait_for(lock, stop_, time, [] { return false; });
  check_stop();
}

CollectReport collect(Store& store, const CollectPolicy& policy, const std::stop_token& stop) {
  return Collector(store.state(), policy, stop).run();
}

}  // namespace sabath
