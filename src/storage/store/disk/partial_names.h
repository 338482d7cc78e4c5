// The names of the partials there are. Lanes that ask at about the same time share one listing: most small files have
// no partial, and on a shared filesystem each look asks a server. Thread-safe.
#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <unordered_set>

namespace sabath {

class PartialNames {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit PartialNames(std::filesystem::path partials) : partials_(std::move(partials)) {}

  // As of a moment at most `age_max` before `now`. True for each name if the directory cannot be listed.
  [[nodiscard]] bool has(const std::string& name, Time now, std::chrono::milliseconds age_max) {
    const std::lock_guard lock(mutex_);
    if (!looked_ || now - *looked_ >= age_max) list(now);
    return !listed_ || names_.contains(name);
  }

 private:
  void list(Time now) {
    looked_ = now;
    names_.clear();
    std::error_code error;
    std::filesystem::directory_iterator it(partials_, error);
    for (; !error && it != std::filesystem::directory_iterator{}; it.increment(error)) {
      names_.insert(it->path().filename());
    }
    listed_ = !error || error == std::errc::no_such_file_or_directory;
  }

  const std::filesystem::path partials_;
  std::mutex mutex_;
  std::unordered_set<std::string> names_;
  std::optional<Time> looked_;
  bool listed_ = false;
};

}  // namespace sabath
