// The part of Collector that bounds content of no asset: files in quarantine, bare clones, indexes of archives. All can
// go without harm: a fetch makes clones and indexes anew, and quarantine is for people to look at.
#include <unistd.h>

#include <algorithm>

#include "store/collect/collector.h"
#include "store/disk/listing.h"
#include "store/registered.h"
#include "store/views/by_name.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

struct Idle {
  fs::path path;
  PartialState state;
};

// A file in quarantine has its own mtime; the rename that brought it there gave it its ctime.
std::int64_t moved_ns(const fs::path& file) {
  const auto s = try_lstat(file);
  return s ? nanoseconds(s->st_ctim) : 0;
}

}  // namespace

void Collector::choose_others(const Survey& survey) {
  std::vector<Idle> all;
  const auto look = [&](const fs::path& path) {
    Idle idle{path, look_at_partial(path, store_.writer.host)};
    if (path.parent_path() == store_.layout.quarantine())
      idle.state.changed_ns = std::max(idle.state.changed_ns, moved_ns(path));
    all.push_back(std::move(idle));
  };
  for (const auto& file : list_directory(store_.layout.quarantine())) look(file);
  // A running fetch may be reading a clone or an index without a lease on it.
  const bool fetching =
      std::ranges::any_of(survey.leases, [](const FoundLease& lease) { return lease.live && lease.text.open; });
  if (!fetching) {
    for (const auto& clone : list_directory(store_.layout.clones())) look(clone);
    for (const auto& room : note_rooms(store_.layout, store_.layout.indexes()))
      for_each_file_below(room, [&](const fs::path& file) {
        if (::access(file.parent_path().c_str(), W_OK) == 0) look(file);
      });
  }
  std::ranges::sort(all, {}, [](const Idle& idle) { return std::pair(idle.state.changed_ns, idle.path); });
  std::uint64_t bytes = 0;
  for (const auto& idle : all) bytes += idle.state.bytes;
  for (const auto& idle : all) {
    const std::int64_t age_ns = now_ns_ - idle.state.changed_ns;
    const bool old = age_ns >= std::chrono::nanoseconds(policy_.idle_max).count();
    const bool pressed = policy_.size_max && bytes + survey.objects.total_bytes() > *policy_.size_max &&
                         age_ns >= std::chrono::nanoseconds(policy_.grace).count();
    if (!old && !pressed) continue;
    bytes -= idle.state.bytes;
    report_.others.push_back({idle.path.lexically_relative(store_.layout.root()), idle.state.bytes,
                              idle.state.changed_ns, old ? "idle for long" : "to free space"});
    report_.other_bytes += idle.state.bytes;
  }
  for (auto* size : {&policy_.size_max, &policy_.size_low}) {
    if (*size) **size -= std::min(**size, bytes);
  }
}

// Links and notes of this user's names whose view, object or manifest is gone; they come back with them.
void Collector::discard_lost_links() {
  for (const auto& link : lost_links(store_)) store_.trash.discard(batch(), link);
  for (const auto& note : lost_held(store_)) store_.trash.discard(batch(), note);
}

void Collector::discard_others() {
  std::erase_if(report_.others, [&](const CollectReport::Other& other) {
    check_stop();
    const auto path = store_.layout.root() / other.name, in_trash = batch().directory / other.name;
    bool gone = store_.trash.discard(batch(), path);
    // A fetch may have begun to use it in the same moment.
    const bool file = path.parent_path() == store_.layout.quarantine();
    if (gone && !file && look_at_partial(in_trash, store_.writer.host).changed_ns > other.used_ns) {
      gone = !store_.trash.restore(batch(), in_trash);
    }
    if (!gone) report_.other_bytes -= other.bytes;
    return !gone;
  });
}

std::optional<StalePartial> largest_stale_partial(Store& store) {
  const Store::State& state = store.state();
  std::optional<StalePartial> largest;
  for (const auto& directory : list_directory(state.layout.partials())) {
    const PartialState found = look_at_partial(directory, state.writer.host);
    if (found.alive || found.bytes == 0 || (largest && found.bytes <= largest->bytes)) continue;
    largest = StalePartial{directory, found.bytes, found.changed_ns};
  }
  return largest;
}

}  // namespace sabath
