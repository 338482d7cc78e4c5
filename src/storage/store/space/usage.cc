// Measures the store's room on the disk: blocks as du(1) counts them, each file once however many links it has.
#include <algorithm>
#include <system_error>
#include <unordered_set>

#include "store/disk/layout.h"
#include "store/state.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

class Tally {
 public:
  template <class Visit>
  void walk(const fs::path& directory, Visit&& visit) {
    std::error_code error;
    if (!try_lstat(directory)) return;
    count(directory);
    constexpr auto closed = fs::directory_options::skip_permission_denied;  // another user's
    for (fs::recursive_directory_iterator it(directory, closed, error), end; !error && it != end; it.increment(error)) {
      const auto s = count(it->path());
      if (s) visit(*s, it.depth());
    }
  }
  std::uint64_t inodes = 0;

  // Counts a file that it sees for the first time, and returns its stat.
  std::optional<struct stat> count(const fs::path& path) {
    const auto s = try_lstat(path);
    if (!s || (s->st_nlink > 1 && !S_ISDIR(s->st_mode) && !seen_.insert(s->st_ino).second)) return std::nullopt;
    ++inodes;
    return s;
  }

 private:
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace

Store::Usage Store::usage() const {
  const Layout& layout = state_->layout;
  Usage usage;
  Tally tally;
  tally.walk(layout.objects(), [&](const struct stat& s, int) {
    if (S_ISDIR(s.st_mode)) return;
    ++usage.objects;
    usage.object_bytes += bytes_on_disk(s);
  });
  tally.walk(layout.packs(), [&](const struct stat& s, int) { usage.pack_bytes += bytes_on_disk(s); });
  for (const auto& pack : state_->packs.all()) {
    ++usage.packs;
    usage.packed_files += pack->footer.members;
  }
  tally.walk(layout.partials(), [&](const struct stat& s, int) { usage.partial_bytes += bytes_on_disk(s); });
  tally.walk(layout.manifests(), [&](const struct stat& s, int) { usage.manifests += S_ISREG(s.st_mode) ? 1 : 0; });
  const auto views = rooms_of_all(layout, layout.views());
  for (const auto& directory : views) {
    tally.walk(directory, [&](const struct stat& s, int depth) {
      usage.views += depth == 0 ? 1 : 0;
      if (!S_ISDIR(s.st_mode)) usage.view_bytes += bytes_on_disk(s);
    });
  }
  tally.walk(layout.trash(), [&](const struct stat& s, int) {
    if (!S_ISDIR(s.st_mode)) usage.trash_bytes += bytes_on_disk(s);
  });
  tally.walk(layout.quarantine(), [&](const struct stat&, int) { ++usage.quarantined; });
  std::error_code error;
  tally.count(layout.root());
  for (fs::directory_iterator it(layout.root(), error), end; !error && it != end; it.increment(error)) {
    const auto& path = it->path();
    const bool counted = path == layout.objects() || path == layout.packs() || path == layout.partials() ||
                         path == layout.manifests() || path == layout.quarantine() || path == layout.trash();
    if (counted || std::ranges::find(views, path) != views.end()) continue;
    if (it->is_directory(error)) {
      tally.walk(path, [](const struct stat&, int) {});
    } else {
      tally.count(path);
    }
  }
  usage.inodes = tally.inodes;
  return usage;
}

}  // namespace sabath
