// What there is to verify: the files of one manifest, or all that the store holds.
#include <fmt/format.h>

#include <system_error>
#include <unordered_set>

#include "sabath/error.h"
#include "store/open_directories.h"
#include "store/ref_file.h"
#include "store/scrub.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// Visits the regular files (and symlinks) `directory`/XX/NAME as (XX, NAME, path).
template <class Visit>
void for_each_fanned(const fs::path& directory, Visit&& visit) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it.depth() < 1 || it->is_directory()) continue;
    visit(it->path().parent_path().filename().native(), it->path().filename().native(), it->path());
  }
  if (error && error.value() != ENOENT) throw_errno("list", directory, error.value());
}

// A view's files that are not the objects themselves have bytes of their own, and training reads those.
void add_view_copies(Store::State& store, const Manifest& manifest, Scrub& scrub) {
  const auto view = store.layout.view(manifest.root());
  const auto there = try_lstat(view);
  if (!there || !S_ISDIR(there->st_mode)) return;
  manifest.for_each([&](const Entry& entry) {
    if (!entry.is_file()) return;
    const auto seen = try_lstat(view / entry.path.text());
    const auto object = try_lstat(store.layout.object(entry.digest));
    if (seen && S_ISREG(seen->st_mode) && (!object || object->st_ino != seen->st_ino)) {
      scrub.add({entry.digest, entry.path.text(), true, &manifest});
    }
  });
}

void add_files(Store::State& store, const Manifest& manifest, Scrub& scrub, Store::VerifyReport& report) {
  std::unordered_set<Digest> seen;
  manifest.for_each([&](const Entry& entry) {
    if (!entry.is_file()) return;
    if (!try_stat(store.layout.object(entry.digest))) {
      ++report.missing;
      report.missing_paths.push_back(entry.path.text());
    } else if (seen.insert(entry.digest).second) {
      scrub.add({entry.digest, entry.path.text(), false, &manifest});
    }
  });
}

std::vector<Manifest> check_manifests(Store::State& store, Scrub& scrub) {
  std::vector<Manifest> good;
  for_each_fanned(store.layout.manifests(),
                  [&](const std::string& directory, const std::string& name, const fs::path& file) {
                    const auto root = try_parse_hash_name(directory, name, "");
                    const std::string shown = file.lexically_relative(store.layout.root());
                    try {
                      auto manifest = Manifest::open(file);
                      if (!root || manifest.root() != *root)
                        throw Error(FailureKind::invalid, "its name is not its root");
                      manifest.check();
                      good.push_back(std::move(manifest));
                    } catch (const Error& error) {
                      if (error.failure().kind != FailureKind::invalid) throw;
                      store.objects.quarantine(file);
                      scrub.blame({ContentKind::tree, 0, root.value_or(Sha256())}, shown, 0, error.what());
                    }
                  });
  return good;
}

template <class Decode>
void check_small(Store::State& store, const fs::path& directory, std::string_view what, Scrub& scrub, Decode&& decode) {
  for_each_fanned(directory, [&](const std::string&, const std::string& name, const fs::path& file) {
    if (name.ends_with(".tmp")) return;
    bool right = false;
    try {
      const auto text = try_read_text(file, 64 * 1024);
      right = !text || decode(*text).has_value();
    } catch (const Error& error) {
      if (error.failure().kind != FailureKind::invalid) throw;
    }
    if (right) return;
    store.objects.quarantine(file);
    scrub.blame({}, file.lexically_relative(store.layout.root()), 0, fmt::format("it is a damaged {}", what));
  });
}

void add_objects(Store::State& store, Scrub& scrub) {
  for_each_fanned(
      store.layout.objects(), [&](const std::string& directory, const std::string& name, const fs::path& file) {
        if (const auto digest = try_parse_object_name(directory, name)) {
          scrub.add({*digest, "", false, nullptr});
        } else {
          scrub.blame({}, file.lexically_relative(store.layout.root()), 0, "it has no object's name: left where it is");
        }
      });
}

}  // namespace

Store::VerifyReport Store::verify(const Manifest* manifest, unsigned threads,
                                  const std::function<void(std::uint64_t)>& on_bytes) {
  VerifyReport report;
  Scrub scrub(*state_, report, on_bytes);
  if (manifest != nullptr) {
    add_files(*state_, *manifest, scrub, report);
    add_view_copies(*state_, *manifest, scrub);
    scrub.run(threads);
    return report;
  }
  const auto manifests = check_manifests(*state_, scrub);
  check_small(*state_, state_->layout.refs(), "ref", scrub, try_decode_ref);
  check_small(*state_, state_->layout.aliases(), "alias", scrub, try_decode_alias);
  add_objects(*state_, scrub);
  scrub.ask(manifests);
  for (const auto& one : manifests) add_view_copies(*state_, one, scrub);
  scrub.run(threads);
  return report;
}

}  // namespace sabath
