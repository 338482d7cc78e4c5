#include "hub/blob_names.h"

#include <fmt/format.h>

#include <array>

#include "base/wording.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::uint64_t plain_size_max = 10ULL << 20;
constexpr std::size_t piece_size = 1 << 20;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

std::string lfs_pointer_text(const std::string& sha256, std::uint64_t size_bytes) {
  return fmt::format("version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize {}\n", sha256, size_bytes);
}

std::string BlobNames::hash(const Digest& digest, bool in_lfs) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(digest); found != known_.end()) return found->second;
  }
  const auto content = store_.present(digest) ? store_.open_content(digest) : std::nullopt;
  if (!content) {
    throw Error(FailureKind::storage, fmt::format("{} is not in the store", digest.hash.prefixed()),
                fmt::format("`{}` brings it", verb_text("fetch")));
  }
  StreamHash sha256("sha256");
  StreamHash git = git_blob_hash(digest.size_bytes);
  std::vector<std::byte> room(std::min<std::uint64_t>(piece_size, digest.size_bytes));
  for (std::uint64_t at = 0; at < digest.size_bytes;) {
    const std::size_t n = content->read(at, room);
    if (n == 0) throw Error(FailureKind::storage, fmt::format("{} is too short", content->name().native()));
    const auto piece = std::span(room).first(n);
    in_lfs ? sha256.update(piece) : git.update(piece);
    at += n;
  }
  std::string hex = in_lfs ? sha256.finish_hex() : git.finish_hex();
  const std::lock_guard lock(mutex_);
  return known_.insert_or_assign(digest, std::move(hex)).first->second;
}

HubFile BlobNames::of(const HubRevision& hub, const Entry& entry, const Checksums& published) {
  HubFile file{.path = path_in_hub(hub, entry.path.text()), .entry = entry, .blob_id = {}, .sha256 = published.sha256};
  const bool in_lfs = !file.sha256.empty() || entry.digest.size_bytes > plain_size_max;
  if (!in_lfs) {
    file.blob_id = hash(entry.digest, false);
    return file;
  }
  if (file.sha256.empty()) file.sha256 = hash(entry.digest, true);
  const std::string pointer = lfs_pointer_text(file.sha256, entry.digest.size_bytes);
  StreamHash git = git_blob_hash(pointer.size());
  git.update(bytes_of(pointer));
  file.blob_id = git.finish_hex();
  return file;
}

std::string path_in_hub(const HubRevision& hub, const std::string& path_in_asset) {
  std::string_view path = path_in_asset;
  if (!hub.below.empty()) {
    if (!path.starts_with(hub.below + "/")) return "";
    path.remove_prefix(hub.below.size() + 1);
  }
  return hub.top.empty() ? std::string(path) : fmt::format("{}/{}", hub.top, path);
}

std::vector<HubFile> files_of(BlobNames& names, const HubRevision& hub, const Manifest& manifest) {
  const auto published = manifest.checksums();
  std::vector<HubFile> files;
  manifest.for_each([&](const Entry& entry) {
    if (!entry.is_file() || path_in_hub(hub, entry.path.text()).empty()) return;
    const auto found = published.find(entry.path.text());
    files.push_back(names.of(hub, entry, found == published.end() ? Checksums{} : found->second));
  });
  return files;
}

}  // namespace sabath
