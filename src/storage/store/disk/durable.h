// Makes files durable, many at once where the filesystem can, and publishes names. Any thread. Throws Error{space},
// Error{storage}.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>

#include "base/file.h"
#include "sabath/error.h"

namespace sabath {

// Files that one syncfs(2) makes durable together. syncfs reports a write-back error once to each descriptor opened
// before the error, so the group opens one before its first file is made, and remembers a failure for all its files.
class SyncGroup {
 public:
  explicit SyncGroup(const std::filesystem::path& directory);
  // False: this kernel or filesystem does not sync, or does not report; each file needs its own fsync.
  [[nodiscard]] bool whole() const noexcept { return whole_; }
  void sync();
  // True for the first `open_files_max` callers: their finished files may stay open, to be fsynced one by one.
  [[nodiscard]] bool may_stay_open() noexcept { return open_files_.fetch_add(1) < open_files_max; }

  static constexpr unsigned open_files_max = 16;

 private:
  const std::filesystem::path directory_;
  Fd fd_;
  bool whole_ = false;
  std::atomic<unsigned> open_files_{0};
  std::mutex mutex_;
  bool failed_ = false;
};

// Whether link(2) failed with this errno because such a link cannot be made here: the filesystem has no hard links,
// this file no more of them, or none may lead to another directory (AFS). A copy or a rename does instead.
[[nodiscard]] bool has_no_such_link(int error) noexcept;

// rename(2) that never replaces; false if `to` is there. Error{storage} with ENOENT's text if `from` or a directory is
// not.
[[nodiscard]] bool rename_unless_there(const std::filesystem::path& from, const std::filesystem::path& to);
// Both are relative to directories that are held open, or to the working directory (AT_FDCWD).
[[nodiscard]] bool rename_unless_there_at(int from_directory, const std::filesystem::path& from, int to_directory,
                                          const std::filesystem::path& to);

// The same for an open file that other processes may rename or replace: exactly this inode gets the name, or nothing
// happens. `from` is the name that it should have, and may keep.
enum class Move { done, occupied, vanished };
[[nodiscard]] Move publish_open_file(int fd, const std::filesystem::path& from, const std::filesystem::path& to);

// Runs `make` a few times while it fails with Error{storage}: another process may remove an empty directory between two
// of our steps; `make` then makes it anew.
template <class Make>
void retry_lost_directory(Make&& make) {
  constexpr int attempts = 5;
  for (int attempt = 1;; ++attempt) {
    try {
      return make();
    } catch (const Error& error) {
      if (attempt == attempts || error.failure().kind != FailureKind::storage) throw;
    }
  }
}

}  // namespace sabath
