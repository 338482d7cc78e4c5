#include "sabath/asset_file.h"

#include <fmt/format.h>

#include <utility>

#include "manifest/manifest.h"
#include "sabath/error.h"
#include "sabath/path.h"
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

struct AssetFile::Open {
  std::unique_ptr<Store> store;
  Lease lease;  // ends before its store
  Content content;
  std::uint64_t size_bytes = 0;
  std::optional<FilePlace> place;
};

AssetFile::AssetFile(Session& session, const std::string& asset, const std::string& path) {
  const Recipe recipe = make_catalogue(session.settings()).find(asset, std::nullopt);
  auto store = try_open_store(session.settings());
  const Manifest manifest = manifest_of(recipe, store.get());
  Lease lease = store->lease({manifest.root()}, "open " + recipe.name);
  const Entry entry = entry_at(manifest, asset, path);
  auto content = store->present(entry.digest) ? store->open_content(entry.digest) : std::nullopt;
  if (!content) {
    throw Error(FailureKind::offline,
                fmt::format("the store does not hold {} of {}", printable(path), printable(asset)),
                "the asset must be fetched again");
  }
  std::optional<FilePlace> place;
  if (auto found = store->place_of(entry.digest))
    place = FilePlace{std::move(found->file), found->offset, found->size_bytes};
  open_.reset(
      new Open{std::move(store), std::move(lease), std::move(*content), entry.digest.size_bytes, std::move(place)});
}

AssetFile::AssetFile(AssetFile&&) noexcept = default;
AssetFile::~AssetFile() = default;

std::uint64_t AssetFile::size_bytes() const noexcept { return open_->size_bytes; }

std::size_t AssetFile::read(std::uint64_t offset, std::span<std::byte> room) const {
  return offset >= open_->size_bytes ? 0 : open_->content.read(offset, room);
}

const std::optional<FilePlace>& AssetFile::place() const noexcept { return open_->place; }

}  // namespace sabath
