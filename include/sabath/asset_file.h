// A file of an asset that the store holds, open for reading. Its bytes stand in a file of their own, or in a
// pack beside others. Only verified bytes are handed out. Throws Error{not_found}, Error{offline}, Error{storage}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "sabath/session.h"

namespace sabath {

// Bytes of the disk that are the file's as they are: for mmap.
struct FilePlace {
  std::filesystem::path file;
  std::uint64_t offset = 0, size_bytes = 0;
};

// The file is kept from collection while the object lives. Any thread may read.
class AssetFile {
 public:
  // `asset`: its name; `path`: in the asset, as its view has it. Symlinks inside the asset are followed.
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
