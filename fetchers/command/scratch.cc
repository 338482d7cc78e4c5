#include "command/scratch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>

namespace sabath {
namespace {

constexpr std::string_view prefix = "sabath-program.";
constexpr int attempts_max = 100;

void remove_leftovers(const std::filesystem::path& parent) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(parent, error)) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    const Fd lock(::open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    const bool ours = lock && ::fstat(lock.get(), &status) == 0 && status.st_uid == ::getuid();
    if (ours && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) remove_tree(entry.path());
  }
}

}  // namespace

Scratch::Scratch(const std::filesystem::path& parent) {
  const std::filesystem::path place = parent.empty() ? std::filesystem::temp_directory_path() : parent;
  make_directories(place);
  remove_leftovers(place);
  for (int i = 0; i < attempts_max && !lock_; ++i) try_make(place);
  if (!lock_) throw_errno("make a directory in", place, EEXIST);
}

// Until it is locked, one who cleans up may take it for a leftover: then another is made.
void Scratch::try_make(const std::filesystem::path& parent) {
  std::string name = (parent / (std::string(prefix) + "XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) throw_errno("make a directory in", parent, errno);
  Fd lock(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 || !try_lstat(name)) return;
  directory_ = name;
  lock_ = std::move(lock);
}

Scratch::~Scratch() { remove_tree(directory_); }

std::uint64_t Scratch::bytes() const {
  std::error_code error;
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
    if (const auto status = try_lstat(entry.path())) bytes += static_cast<std::uint64_t>(status->st_blocks) * 512;
  }
  return bytes;
}

}  // namespace sabath
