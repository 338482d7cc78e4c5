#include "store/chunk_index.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "sabath/error.h"
#include "store/disk/listing.h"
#include "store/state.h"

namespace sabath {
namespace {

std::uint64_t prefix_of(const Sha256& hash) {
  std::uint64_t prefix = 0;
  std::memcpy(&prefix, hash.bytes().data(), sizeof prefix);
  return prefix;
}

struct Candidate {
  Sha256 root;
  bool namesake = false;  // has a file of the wanted name, most likely another version
  std::int64_t mtime_ns = 0;
};

bool goes_first(const Candidate& a, const Candidate& b) {
  return a.namesake != b.namesake ? a.namesake : a.mtime_ns > b.mtime_ns;
}

// A damaged manifest is a hint lost; `verify` names it.
std::optional<Manifest> try_manifest(const Store& store, const Sha256& root) {
  try {
    return store.manifest(root);
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool has_file(const Manifest& manifest, const std::string& name) {
  const auto path = RelativePath::try_parse(name);
  try {
    const auto entry = path ? manifest.find(*path) : std::nullopt;
    return entry && entry->is_file();
  } catch (const Error&) {
    return false;
  }
}

std::vector<Candidate> candidates(Store& store, const std::string& name, std::size_t manifests_max, bool& cut) {
  std::vector<Candidate> found;
  for_each_fanned(store.state().layout.manifests(),
                  [&](const std::string& fan, const std::string& rest, const std::filesystem::path& file) {
                    const auto root = try_parse_hash_name(fan, rest, "");
                    const auto there = root ? try_stat(file) : std::nullopt;
                    if (!there) return;
                    found.push_back({*root, false, there->st_mtim.tv_sec * 1'000'000'000 + there->st_mtim.tv_nsec});
                  });
  std::ranges::sort(found, goes_first);
  cut = found.size() > manifests_max;
  if (cut) found.resize(manifests_max);
  for (Candidate& candidate : found) {
    const auto manifest = try_manifest(store, candidate.root);
    candidate.namesake = manifest && has_file(*manifest, name);
  }
  std::ranges::stable_sort(found, goes_first);
  return found;
}

}  // namespace

void ChunkIndex::build(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (built_) return;
  for (const auto& candidate : candidates(store_, name, limits_.manifests, cut_)) {
    if (const auto manifest = try_manifest(store_, candidate.root)) add(*manifest);
  }
  std::ranges::sort(rows_, [](const Row& a, const Row& b) {
    return std::tie(a.prefix, a.object, a.index) < std::tie(b.prefix, b.object, b.index);
  });
  seen_ = {};
  built_ = true;
}

void ChunkIndex::add(const Manifest& manifest) {
  try {
    const Totals totals = manifest.totals();
    if (totals.bytes < limits_.file_bytes_min) return;
    const std::uint64_t entries = totals.files + totals.directories + totals.symlinks;
    if (entries > limits_.entries - std::min(entries_, limits_.entries)) {
      cut_ = true;
      return;
    }
    entries_ += entries;
    manifest.for_each([&](const Entry& entry) {
      if (entry.is_file() && entry.digest.size_bytes >= limits_.file_bytes_min) add(manifest, entry);
    });
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::invalid) throw;
  }
}

void ChunkIndex::add(const Manifest& manifest, const Entry& file) {
  const std::uint64_t count = chunk_count(file.digest.size_bytes);
  if (rows_.size() + count > limits_.chunks || count > UINT32_MAX || objects_.size() == UINT32_MAX) {
    cut_ = true;
    return;
  }
  if (!seen_.insert(file.digest).second) return;  // a file may stand in many manifests
  if (!try_stat(store_.object_path(file.digest))) return;
  const auto object = static_cast<std::uint32_t>(objects_.size());
  objects_.push_back(file.digest);
  const auto chunks = manifest.chunks(file);
  for (std::uint32_t i = 0; i < count; ++i) rows_.push_back({prefix_of(chunks[i]), object, i});
}

std::vector<ChunkPlace> ChunkIndex::find(const Sha256& hash, std::uint64_t length) const {
  std::vector<ChunkPlace> places;
  const std::uint64_t prefix = prefix_of(hash);
  for (auto row = std::ranges::lower_bound(rows_, prefix, {}, &Row::prefix);
       row != rows_.end() && row->prefix == prefix && places.size() < places_max; ++row) {
    const Digest& object = objects_[row->object];
    if (chunk_length(object.size_bytes, row->index) == length) places.push_back({object, row->index});
  }
  return places;
}

bool copy_chunk(Store& store, const ChunkPlace& place, const Sha256& hash, SharedPartial& partial, unsigned lane,
                std::uint64_t index, std::span<std::byte> buffer) {
  const auto path = store.object_path(place.object);
  const std::uint64_t offset = place.index * chunk_size_bytes;
  const auto bytes = buffer.first(chunk_length(place.object.size_bytes, place.index));
  std::optional<Fd> from;
  try {
    from = try_open_file(path, O_RDONLY | O_NONBLOCK);
    if (!from || read_at(from->get(), bytes, offset, path) != bytes.size()) return false;
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::storage) throw;
    return false;  // unreadable, or bad blocks: it is fetched
  }
  if (hash_chunk(bytes) != hash) {
    store.distrust(place.object);
    return false;
  }
  // Share blocks only with a file that no process writes to: an object of ours. A symlink leads to a user's own file.
  const auto there = try_lstat(path);
  const bool sealed = there && S_ISREG(there->st_mode) && (there->st_mode & 0222) == 0 && there->st_uid == ::geteuid();
  partial.copy_chunk(lane, index, bytes, hash, {sealed ? from->get() : -1, offset});
  return true;
}

}  // namespace sabath
