// Chooses what to verify: the files of one manifest, or the whole store.
#include <dirent.h>
#include <fmt/format.h>

#include <set>
#include <unordered_set>

#include "base/wording.h"
#include "sabath/error.h"
#include "store/collect/survey.h"
#include "store/disk/listing.h"
#include "store/verify/pack_verify.h"
#include "store/verify/scrub.h"
#include "store/verify/verify.h"
#include "store/verify/verify_names.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// A view's files that are not the objects themselves have their own bytes, and training reads those.
void add_view_copies(Store::State& store, const Manifest& manifest, const VerifyOptions& options, Scrub& scrub) {
  const auto view = store.layout.view(manifest.root());
  const auto there = try_lstat(view);
  if (!there || !S_ISDIR(there->st_mode)) return;
  manifest.for_each([&](const Entry& entry) {
    if (!entry.is_file() || !options.is_ours(entry.digest)) return;
    const auto seen = try_lstat(view / entry.path.text());
    const auto object = try_lstat(store.layout.object(entry.digest));
    if (seen && S_ISREG(seen->st_mode) && (!object || object->st_ino != seen->st_ino)) {
      scrub.add({entry.digest, entry.path.text(), true, &manifest});
    }
  });
}

void add_files(Store::State& store, const Manifest& manifest, const VerifyOptions& options, Scrub& scrub,
               PackVerify& packs, VerifyReport& report) {
  std::unordered_set<Digest> seen;
  manifest.for_each([&](const Entry& entry) {
    if (!entry.is_file()) return;
    const bool ours = options.is_ours(entry.digest);
    if (try_stat(store.layout.object(entry.digest))) {
      if (seen.insert(entry.digest).second && ours) scrub.add({entry.digest, entry.path.text(), false, &manifest});
    } else if (!seen.contains(entry.digest)) {
      if (packs.add(entry.digest, entry.path.text())) {
        seen.insert(entry.digest);
      } else if (ours) {
        ++report.missing;
        report.missing_paths.push_back(entry.path.text());
      }
    }
  });
}

// What is no object is named and left: it takes nothing from any asset.
void add_objects(Store::State& store, const VerifyOptions& options, Scrub& scrub) {
  const auto stray = [&](const fs::path& file) {
    if (options.part == 0) scrub.note_stray(file);
  };
  const auto objects = store.layout.objects();
  for_each_name(objects, [&](std::string_view fan, unsigned char fan_type) {
    if (fan_type != DT_DIR || !is_fan_name(fan)) return stray(objects / fan);
    for_each_name(objects / fan, [&](std::string_view name, unsigned char type) {
      const auto digest = type == DT_DIR ? std::nullopt : try_parse_object_name(fan, name);
      if (!digest) return stray(objects / fan / name);
      if (options.is_ours(*digest)) scrub.add({*digest, "", false, nullptr});
    });
  });
}

// A file or manifest that an asset's name promises, and that is nowhere.
struct Lack {
  Sha256 root;
  std::optional<Digest> file;  // nullopt: its manifest
  std::string path;
};

std::optional<Manifest> try_manifest(const Store::State& store, const Sha256& root) {
  const auto file = store.layout.manifest(root);
  try {
    if (try_lstat(file)) return Manifest::open(file);
  } catch (const Error& error) {  // damaged, or gone meanwhile; a passing read error is neither
    if (error.failure().kind != FailureKind::invalid && try_lstat(file)) throw;
  }
  return std::nullopt;
}

void find_lacks(const Store::State& store, const Sha256& root, bool kept, const ObjectTable& objects,
                std::vector<Lack>& lacks) {
  const auto manifest = try_manifest(store, root);
  if (!manifest && kept) lacks.push_back({root, std::nullopt, ""});
  if (!manifest) return;
  manifest->for_each([&](const Entry& entry) {
    if (entry.is_file() && !objects.find(entry.digest)) lacks.push_back({root, entry.digest, entry.path.text()});
  });
}

// A collection may take an asset meanwhile, its name first: so re-check the name after the files. An undo, or a fetch
// that runs now, brings the files first and the name last: so look at all twice.
void keep_what_still_lacks(Store& store, std::vector<Lack>& lacks) {
  Store::State& state = store.state();
  const auto forget_unnamed = [&] {
    if (lacks.empty()) return;
    const auto named = roots_named(state.layout);
    std::erase_if(lacks, [&](const Lack& lack) { return !named.contains(lack.root); });
  };
  forget_unnamed();
  for (int look = 0; look < 2; ++look) {
    std::erase_if(lacks, [&](const Lack& lack) {
      if (lack.file) return store.present(*lack.file);
      state.trash.recall(state.layout.manifest(lack.root));
      return try_manifest(state, lack.root).has_value();
    });
    forget_unnamed();
  }
}

std::vector<Manifest> readable_manifests(const Store::State& store) {
  std::vector<Manifest> manifests;
  for_each_fanned(store.layout.manifests(), [&](const std::string& fan, const std::string& name, const fs::path&) {
    const auto root = try_parse_hash_name(fan, name, "");
    if (auto manifest = root ? try_manifest(store, *root) : std::nullopt) manifests.push_back(std::move(*manifest));
  });
  return manifests;
}

VerifyReport read_part(Store& store, const Manifest* manifest, const VerifyOptions& options) {
  Store::State& state = store.state();
  VerifyReport report;
  Scrub scrub(state, report, options);
  PackVerify packs(state, report, options, scrub);
  if (manifest != nullptr) {
    const Lease lease = store.lease({manifest->root()}, "verify");
    add_files(state, *manifest, options, scrub, packs, report);
    add_view_copies(state, *manifest, options, scrub);
    scrub.run();
    packs.run({});
    return report;
  }
  const auto manifests = options.part == 0 ? check_names(state, scrub) : readable_manifests(state);
  add_objects(state, options, scrub);
  scrub.ask(manifests);
  packs.add_all();
  for (const auto& one : manifests) add_view_copies(state, one, options, scrub);
  scrub.run();
  packs.run(manifests);
  return report;
}

}  // namespace

bool VerifyOptions::is_ours(const Digest& file) const { return std::hash<Digest>{}(file) % parts == part; }

std::vector<std::string> missing_of_assets(Store& store, const std::vector<BadChunk>& told) {
  Store::State& state = store.state();
  std::set<Sha256> known;
  for (const auto& bad : told) known.insert(bad.file.hash);
  std::vector<Lack> lacks;
  {
    const ObjectTable objects(state.layout, &state.packs);
    for (const auto& [root, kept] : roots_named(state.layout)) find_lacks(state, root, kept, objects, lacks);
  }
  std::erase_if(lacks, [&](const Lack& lack) { return known.contains(lack.file ? lack.file->hash : lack.root); });
  keep_what_still_lacks(store, lacks);
  std::vector<std::string> missing;
  for (const auto& lack : lacks) {
    missing.push_back(lack.file ? fmt::format("{} of {}", lack.path, lack.root.prefixed())
                                : fmt::format("the manifest {}", lack.root.prefixed()));
  }
  return missing;
}

VerifyReport verify(Store& store, const Manifest* manifest, const VerifyOptions& options) {
  try {
    auto report = read_part(store, manifest, options);
    if (manifest == nullptr && options.parts == 1) add_lacks(store, report);
    return report;
  } catch (const VerifyStopped&) {
    throw Error(
        FailureKind::interrupted, "verify was stopped before everything was read",
        fmt::format("with {} 1d the next one does not read again what was read and right", option_text("within")));
  }
}

void add_lacks(Store& store, VerifyReport& report) {
  for (auto& path : missing_of_assets(store, report.bad)) report.missing_paths.push_back(std::move(path));
  report.missing = report.missing_paths.size();
}

VerifyReport Store::verify(const Manifest* manifest, unsigned threads,
                           const std::function<void(std::uint64_t)>& on_bytes) {
  VerifyOptions options;
  options.threads = threads;
  options.on_bytes = on_bytes;
  return sabath::verify(*this, manifest, options);
}

}  // namespace sabath
