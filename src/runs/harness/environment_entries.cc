#include "harness/environment_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <vector>

#include "base/counted.h"
#include "base/file.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

void for_each_entry(const fs::path& tree, const std::stop_token& stop,
                    const std::function<void(const fs::path& place)>& visit) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(tree, error), end; !error && at != end; at.increment(error)) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped while the environment was verified");
    visit(at->path());
  }
  if (error) throw_errno("list", tree, error.value());
}

}  // namespace

void refuse_more_entries(const Manifest& manifest, const fs::path& tree, const std::string& name,
                         const std::stop_token& stop) {
  std::unordered_set<std::string> known;
  manifest.for_each([&](const Entry& entry) {
    const std::string& path = entry.path.text();
    known.insert(path);
    for (std::size_t slash = path.rfind('/'); slash != std::string::npos; slash = path.rfind('/', slash - 1))
      if (!known.insert(path.substr(0, slash)).second) break;
  });
  const std::size_t start = tree.native().size() + 1;
  std::string first;
  std::size_t more = 0;
  for_each_entry(tree, stop, [&](const fs::path& place) {
    const std::string path = place.native().substr(start);
    if (known.contains(path)) return;
    if (more++ == 0 || path < first) first = path;
  });
  if (more == 0) return;
  throw Error(FailureKind::content,
              fmt::format("{} is not what was verified: {} ({}{}) in {}", name,
                          counted(more, "entry is more than it has", "entries are more than it has"),
                          printable(first, 400), more > 1 ? ", ..." : "", printable(tree.native(), 1000)),
              "nothing was launched; remove what was added: an interpreter may run it");
}

void refuse_writable_tree(const fs::path& tree, const TrustedOwners& owners, const std::string& name,
                          const std::stop_token& stop) {
  const auto refuse = [&](const fs::path& place, const std::string& why) {
    throw Error(FailureKind::access,
                fmt::format("{} is not used from {}: {}", name, printable(place.native(), 1000), why),
                "nothing was launched; stage it to a directory that only you and root can write");
  };
  if (const auto why = owners.why_not(tree)) refuse(tree, *why);
  for_each_entry(tree, stop, [&](const fs::path& place) {
    if (fs::is_symlink(fs::symlink_status(place))) return;  // its target is compared, and lies in the tree
    if (const auto why = owners.why_not_itself(place)) refuse(place, *why);
  });
}

}  // namespace sabath
