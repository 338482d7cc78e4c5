// An asset that the store holds, and its files, open for reading. A file's bytes stand in a file of their own, or in a
// pack beside others. Only verified bytes are handed out. Throws Error{not_found}, Error{offline}, Error{storage}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sabath/digest.h"

namespace sabath {

class Session;

// Bytes of the disk that are the file's as they are: for mmap.
struct FilePlace {
  std::filesystem::path file;
  std::uint64_t offset = 0, size_bytes = 0;
};

struct PlacedFile {
  std::string path;  // in the asset
  Digest digest;
  std::optional<FilePlace> place;  // nullopt: as of AssetFile, or the store lacks it
};

// The asset is kept from collection while the object or a file of it lives. Any thread may use it.
class OpenAsset {
 public:
  OpenAsset(Session& session, const std::string& name);  // an asset's, or "sha256:<hex>", a manifest's root
  OpenAsset(OpenAsset&&) noexcept;
  ~OpenAsset();
  [[nodiscard]] std::string manifest() const;  // "sha256:<hex>"
  // In the manifest's order, which is that of a shard plan; links are left out.
  [[nodiscard]] std::vector<PlacedFile> files() const;

 private:
  friend class AssetFile;
  struct Held;
  std::shared_ptr<const Held> held_;
};

// The file is kept from collection while the object lives. Any thread may read.
class AssetFile {
 public:
  // `path`: in the asset, as its view has it. Symlinks inside the asset are followed.
  AssetFile(const OpenAsset& asset, const std::string& path);
  AssetFile(Session& session, const std::string& asset, const std::string& path);
  AssetFile(AssetFile&&) noexcept;
  ~AssetFile();
  [[nodiscard]] std::uint64_t size_bytes() const noexcept;
  // Up to room.size() bytes at `offset`; fewer only at the end of the file.
  [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<std::byte> room) const;
  // nullopt: its bytes stand compressed in a pack; read() unpacks them.
  [[nodiscard]] const std::optional<FilePlace>& place() const noexcept;

 private:
  struct Open;
  std::unique_ptr<Open> open_;
};

}  // namespace sabath
