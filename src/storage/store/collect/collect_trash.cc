// The second half of Collector: content in the trash goes back if a process began to use it, and is deleted if it was
// not missed for long.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <unordered_set>

#include "base/file.h"
#include "sabath/error.h"
#include "store/collect/collector.h"
#include "store/disk/below.h"
#include "store/disk/listing.h"
#include "store/disk/note.h"
#include "store/disk/ref_file.h"
#include "store/lookup.h"
#include "store/views/view.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// Parses a manifest's name from the last two components of a file in the batch.
std::optional<Sha256> manifest_at(const fs::path& file) {
  const auto directory = file.parent_path();
  if (directory.parent_path().filename() != "manifests") return std::nullopt;
  return try_parse_hash_name(directory.filename().native(), file.filename().native(), "");
}

bool is_ref(const fs::path& file) {
  const auto directory = file.parent_path();
  return directory.parent_path().stem() == "refs" &&
         try_parse_ref_name(directory.filename().native(), file.filename().native());
}

// The root of a view in the batch, of any user.
std::optional<Sha256> view_at(const Batch& batch, const fs::path& file) {
  const fs::path room = file.parent_path();
  return room.parent_path() == batch.directory && room.stem() == "views" ? Sha256::try_parse(file.filename().native())
                                                                         : std::nullopt;
}

// A view that no other user can have put a symlink above.
bool is_of_one_user(const Batch& batch, const fs::path& view) {
  return view.parent_path() == batch.directory / "views";
}

struct InTrash {
  std::map<Sha256, fs::path> manifests;
  std::multimap<Sha256, fs::path> refs, views;  // by root
  std::unordered_map<Digest, fs::path> objects;
};

InTrash contents(const Batch& batch) {
  InTrash in;
  Trash::for_each(batch, [&](const fs::path& file) {
    if (const auto root = manifest_at(file)) in.manifests.emplace(*root, file);
    if (is_ref(file)) {
      const auto note = try_read_any_note(Layout(batch.directory), file);
      if (const auto ref = note ? try_decode_ref(*note) : std::nullopt) in.refs.emplace(ref->root, file);
    }
    const auto object = file.parent_path().parent_path().filename() == "objects"
                            ? try_parse_object_name(file.parent_path().filename().native(), file.filename().native())
                            : std::nullopt;
    if (object) in.objects.emplace(*object, file);
    if (const auto root = view_at(batch, file)) in.views.emplace(*root, file);
  });
  return in;
}

}  // namespace

std::optional<Manifest> try_open_manifest(const fs::path& file) {
  try {
    if (try_lstat(file)) return Manifest::open(file);
  } catch (const Error& error) {  // damaged, or gone meanwhile; a passing read error is neither
    if (error.failure().kind != FailureKind::invalid && try_lstat(file)) throw;
  }
  return std::nullopt;
}

namespace {

// A name comes back only with all its files: another process may have deleted some, or be deleting them now.
bool is_whole(Store::State& store, const Sha256& root) {
  const auto manifest = try_open_manifest(store.layout.manifest(root));
  bool whole = manifest.has_value();
  if (!manifest) return whole;
  manifest->for_each([&](const Entry& entry) {
    if (whole && entry.is_file()) whole = store.present(entry.digest) || bring(store, entry.digest);
  });
  return whole;
}

}  // namespace

void Collector::settle_batches() {
  auto batches = store_.trash.batches(now_ns_);
  std::vector<FoundLease> leases;
  if (!batches.empty()) leases = read_leases(store_.layout, store_.writer.host, now_ns_);
  for (Batch& batch : batches) {
    check_stop();
    if (batch.state == Batch::State::filling) {
      if (!batch.ours_or_dead) continue;
      if (!store_.trash.end(batch)) continue;  // it was interrupted: it is whole with what it has
    }
    const bool given_up = now_ns_ - batch.since_ns > std::chrono::nanoseconds(lease_silence_max).count();
    if (batch.state == Batch::State::back && (!given_up || !store_.trash.end(batch))) continue;
    if (batch.state == Batch::State::whole) {
      restore_used(batch);
      // `now` also deletes a batch that has just become whole: a killed collection left it.
      const bool young = now_ns_ - batch.since_ns < std::chrono::nanoseconds(policy_.undo_window).count();
      if (young && !policy_.now) continue;
      try_empty(batch, leases);
      continue;
    }
    empty(batch);
  }
}

bool Collector::try_empty(Batch& batch, const std::vector<FoundLease>& leases) {
  const auto user = std::ranges::find_if(leases, [&](const FoundLease& lease) {
    return lease.live && lease.text.open && lease.text.since_ns <= batch.since_ns + clock_margin_ns;
  });
  if (user != leases.end()) {
    report_.waiting.push_back(fmt::format("the trash stays until this has ended: {}", describe(*user)));
    return false;
  }
  if (!store_.trash.begin_deletion(batch)) return false;
  empty(batch);
  return true;
}

// A process may have begun to use an asset between our look and our step. An asset published since may need an object
// that was unnamed then.
void Collector::restore_used(const Batch& batch) {
  const InTrash in = contents(batch);
  const bool packs = try_lstat(batch.directory / "packs").has_value();
  std::map<Sha256, bool> wanted;  // roots
  const std::int64_t since = batch.state == Batch::State::filling ? now_ns_ : batch.since_ns;
  for (const auto& lease : read_leases(store_.layout, store_.writer.host, now_ns_)) {
    for (const auto& root : lease.text.roots) wanted[root] = wanted[root] || lease.live;
  }
  for (const auto& pin : list_directory(store_.layout.pins())) {
    if (const auto root = try_parse_pin_name(pin.filename().native())) wanted[*root] = true;
  }
  for (const auto& mark : list_directory(store_.layout.used())) {
    const auto root = Sha256::try_parse(mark.filename().native());
    const auto s = root ? try_lstat(mark) : std::nullopt;
    if (s && touched_ns(*s) >= since) wanted[*root] = true;
  }
  const auto back = [&](const fs::path& file) { report_.restored += store_.trash.restore(batch, file) ? 1 : 0; };
  for (const auto& [root, want] : wanted) {
    if (!want) continue;
    const auto trashed = in.manifests.find(root);
    if (trashed != in.manifests.end()) back(trashed->second);
    if (const auto manifest = try_open_manifest(store_.layout.manifest(root))) {
      manifest->for_each([&](const Entry& entry) {
        if (!entry.is_file()) return;
        const auto object = in.objects.find(entry.digest);
        if (object != in.objects.end()) return back(object->second);
        if (packs && !store_.packs.find(entry.digest) && store_.packs.present(entry.digest)) ++report_.restored;
      });
    }
    auto [ref, last] = in.refs.equal_range(root);
    auto [view, last_view] = in.views.equal_range(root);
    if ((ref == last && view == last_view) || !is_whole(store_, root)) continue;
    for (; ref != last; ++ref) back(ref->second);
    for (; view != last_view; ++view) back(view->second);
  }
}

void remove_view(Store::State& store, const fs::path& view, const std::optional<Manifest>& manifest) {
  try {
    if (manifest) {
      ViewEntries entries(store, *manifest, view);
      manifest->for_each([&](const Entry& entry) { entries.remove_file(entry); });
    }
  } catch (const Error&) {  // files without evidence cost a re-hash
  }
  remove_tree_below(store.layout.root(), view);
}

void Collector::empty(Batch& batch) {
  std::vector<fs::path> views, others;
  Trash::for_each(batch, [&](const fs::path& file) { (is_of_one_user(batch, file) ? views : others).push_back(file); });
  // Views first: their manifests, and their objects, are still there.
  for (const auto& view : views) {
    check_stop();
    const auto root = Sha256::try_parse(view.filename().native());
    std::optional<Manifest> manifest;
    if (root) {
      const auto place = store_.layout.manifest(*root);
      manifest = try_open_manifest(batch.directory / place.lexically_relative(store_.layout.root()));
      if (!manifest) manifest = try_open_manifest(place);
    }
    remove_view(store_, view, manifest);
  }
  for (const auto& file : others) {
    const auto s = try_lstat(file);
    const bool last_link = s && !S_ISDIR(s->st_mode) && s->st_nlink == 1;
    if (last_link) report_.deleted_bytes += bytes_on_disk(*s);
    if (s && S_ISDIR(s->st_mode)) report_.deleted_bytes += look_at_partial(file, store_.writer.host).bytes;
    remove_tree_below(store_.layout.root(), file);
  }
  store_.trash.end_deletion(batch);
  ++report_.deleted_batches;
}

UndoReport undo_collection(Store& store) {
  Store::State& state = store.state();
  UndoReport report;
  for (Batch& batch : state.trash.batches(server_now(state.temporaries))) {
    if (batch.state == Batch::State::going) continue;
    if (batch.state == Batch::State::filling && !batch.ours_or_dead) continue;
    if (!state.trash.begin_undoing(batch)) continue;
    const InTrash in = contents(batch);
    std::set<fs::path> touched;
    const auto back = [&](const fs::path& file) {
      if (!state.trash.restore(batch, file)) return false;
      touched.insert((state.layout.root() / file.lexically_relative(batch.directory)).parent_path());
      return true;
    };
    std::set<fs::path> names;
    for (const auto& [root, ref] : in.refs) names.insert(ref);
    for (const auto& [root, view] : in.views) names.insert(view);
    for (const auto& [digest, file] : in.objects) report.objects += back(file) ? 1 : 0;
    Trash::for_each(batch, [&](const fs::path& file) {
      if (file.parent_path() != batch.directory && !names.contains(file) && back(file)) ++report.others;
    });
    for (const auto& [root, ref] : in.refs) report.others += is_whole(state, root) && back(ref) ? 1 : 0;
    for (const auto& [root, view] : in.views) report.assets += is_whole(state, root) && back(view) ? 1 : 0;
    // Sync before the batch goes. A view that was not restored, for another stands in its place, goes with it.
    for (const auto& directory : touched) sync_directory(directory);
    for (const auto& [root, view] : in.views) {
      if (is_of_one_user(batch, view) && try_lstat(view))
        remove_view(state, view, try_open_manifest(state.layout.manifest(root)));
    }
    state.evidence.flush();
    remove_tree_below(state.layout.root(), batch.directory);
    ++report.batches;
  }
  return report;
}

PartialState look_at_partial(const fs::path& directory, const HostId& here) {
  PartialState state;
  const auto look = [&](const fs::path& path) {
    const auto s = try_lstat(path);
    if (!s) return;
    state.changed_ns = std::max(state.changed_ns, nanoseconds(s->st_mtim));  // a rename changes the ctime
    if (!S_ISDIR(s->st_mode)) state.bytes += bytes_on_disk(*s);
    const std::string name = path.filename();
    std::string_view author = name;
    if (const auto journal = try_parse_journal_name(name)) author = *journal;
    if (const auto scratch = try_parse_scratch_name(name)) author = *scratch;
    const auto writer = WriterId::try_parse(author.substr(0, author.find('+')));
    if (writer && life_of(*writer, here) == Life::alive) state.alive = true;
  };
  look(directory);
  std::error_code error;
  for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    look(it->path());
  }
  return state;
}

}  // namespace sabath
