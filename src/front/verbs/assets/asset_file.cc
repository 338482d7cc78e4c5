#include "sabath/asset_file.h"

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <utility>

#include "manifest/manifest.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/session.h"
#include "store/store.h"
#include "verbs/assets/assets.h"

namespace sabath {
namespace {

constexpr unsigned links_max = 40;  // as Linux follows

// The file that a path of the asset means. A link's target is relative to the directory that holds the link.
Entry entry_at(const Manifest& manifest, const std::string& asset, const std::string& path) {
  RelativePath place = RelativePath::parse(path);
  for (unsigned i = 0; i < links_max; ++i) {
    auto entry = manifest.find(place);
    if (!entry) {
      throw Error(FailureKind::not_found, fmt::format("{} has no file {}", printable(asset), printable(path)),
                  "its manifest names all that it has");
    }
    if (entry->is_file()) return std::move(*entry);
    if (entry->type == EntryType::directory)
      throw Error(FailureKind::usage, fmt::format("{} of {} is a directory", printable(path), printable(asset)));
    const std::filesystem::path from(place.text());
    place = RelativePath::parse((from.parent_path() / entry->target).lexically_normal().string());
  }
  throw Error(FailureKind::invalid,
              fmt::format("{} of {} is a link without an end", printable(path), printable(asset)));
}

}  // namespace

// The parts end in the opposite order: the lease before its store.
struct OpenAsset::Held {
  std::string name;
  std::unique_ptr<Store> store;
  Manifest manifest;
  Lease lease;
  mutable std::mutex mutex;  // of the manifest, which reads on demand

  static std::shared_ptr<const Held> of(Session& session, const std::string& asset) {
    const SessionSettings& settings = session.settings();
    auto store = try_open_store(settings);
    Manifest manifest = asset.starts_with("sha256:")
                            ? find_manifest(asset, settings)  // which refuses where there is no store
                            : manifest_of(make_catalogue(settings).find(asset, std::nullopt), store.get());
    Lease lease = store->lease({manifest.root()}, "open " + asset);
    return std::shared_ptr<const Held>(new Held{asset, std::move(store), std::move(manifest), std::move(lease), {}});
  }
  [[nodiscard]] Entry entry(const std::string& path) const {
    const std::lock_guard lock(mutex);
    return entry_at(manifest, name, path);
  }
  [[nodiscard]] std::optional<FilePlace> place(const Entry& of) const {
    auto found = store->place_of(manifest.root(), of);
    if (!found) return std::nullopt;
    return FilePlace{std::move(found->file), found->offset, found->size_bytes};
  }
};

OpenAsset::OpenAsset(Session& session, const std::string& name) : held_(Held::of(session, name)) {}
OpenAsset::OpenAsset(OpenAsset&&) noexcept = default;
OpenAsset::~OpenAsset() = default;

std::string OpenAsset::manifest() const { return held_->manifest.root().prefixed(); }

std::vector<PlacedFile> OpenAsset::files() const {
  std::vector<PlacedFile> files;
  const std::lock_guard lock(held_->mutex);
  held_->manifest.for_each([&](const Entry& entry) {
    if (entry.is_file()) files.push_back({entry.path.text(), entry.digest, held_->place(entry)});
  });
  return files;
}

struct AssetFile::Open {
  std::shared_ptr<const OpenAsset::Held> asset;
  Content content;
  std::uint64_t size_bytes = 0;
  std::optional<FilePlace> place;
};

AssetFile::AssetFile(const OpenAsset& asset, const std::string& path) {
  const auto& held = asset.held_;
  const Entry entry = held->entry(path);
  auto content = held->store->present(entry.digest) ? held->store->open_content(entry.digest) : std::nullopt;
  if (!content) {
    throw Error(FailureKind::offline,
                fmt::format("the store does not hold {} of {}", printable(path), printable(held->name)),
                "the asset must be fetched again");
  }
  open_.reset(new Open{held, std::move(*content), entry.digest.size_bytes, held->place(entry)});
}

AssetFile::AssetFile(Session& session, const std::string& asset, const std::string& path)
    : AssetFile(OpenAsset(session, asset), path) {}

AssetFile::AssetFile(AssetFile&&) noexcept = default;
AssetFile::~AssetFile() = default;

std::uint64_t AssetFile::size_bytes() const noexcept { return open_->size_bytes; }

std::size_t AssetFile::read(std::uint64_t offset, std::span<std::byte> room) const {
  return offset >= open_->size_bytes ? 0 : open_->content.read(offset, room);
}

const std::optional<FilePlace>& AssetFile::place() const noexcept { return open_->place; }

}  // namespace sabath
