// objects/: published, verified, immutable files. Owned by the Store; any thread. Throws Error{space}, Error{storage}.
#pragma once

#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>

#include "base/file.h"
#include "sabath/error.h"
#include "store/disk/durable.h"
#include "store/disk/layout.h"
#include "store/disk/writer.h"
#include "store/hints/evidence.h"
#include "store/objects/trash.h"

namespace sabath {

// True if the regular file at `path` holds `digest`: by evidence, else by reading it, once. A file that changes while
// it is read does not hold it. `path` may be a symlink to it (an adopted file).
[[nodiscard]] bool holds(Evidence& evidence, const std::filesystem::path& path, const Digest& digest);

// The disk did not take the bytes. The kernel may call the lost pages clean from now on, so the file must not be
// trusted again: the catcher of this removes it.
class SyncFailed : public Error {
 public:
  using Error::Error;
};

class Objects {
 public:
  Objects(const Layout& layout, Evidence& evidence, Trash& trash, const WriterId& writer)
      : layout_(layout), evidence_(evidence), trash_(trash), writer_(writer) {}

  // See Store::present.
  [[nodiscard]] bool present(const Digest& file);

  using Directories = std::unordered_set<std::string>;  // paths
  enum class Placed { here, was_there, vanished };
  // Gives a durable file, whose content is known to be `digest`, its name. `move` moves it, and never replaces.
  // was_there: an object of this name is present. vanished: the file was gone. Adds the directories to sync to
  // `touched`.
  [[nodiscard]] Placed place(const Digest& digest, Directories& touched,
                             const std::function<Move(const std::filesystem::path& to)>& move);
  // Makes the data file of a partial durable and an object, even if others rename or remove its path meanwhile.
  // `digest` is verified. Throws SyncFailed, and Error{storage} if the file is gone and no object is present.
  void publish_data(int fd, const std::filesystem::path& path, const Digest& digest);
  // Notes evidence for the object just placed at `path`: its stat now is that of verified bytes.
  void attest(const Digest& digest, const std::filesystem::path& path);

  // Moves a wrong file out of sight; returns its new name, or nullopt if it could not be moved.
  std::optional<std::filesystem::path> quarantine(const std::filesystem::path& path) noexcept;

 private:
  const Layout& layout_;
  Evidence& evidence_;
  Trash& trash_;
  const WriterId& writer_;
  std::array<std::atomic<bool>, 256> seen_{};  // directories, by the first byte of what is in them
  std::atomic<std::uint64_t> quarantined_{0};
};

}  // namespace sabath
