#include "command/scratch.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace sabath {
namespace {

constexpr int attempts_max = 100;

}  // namespace

Scratch::Scratch(const std::filesystem::path& place) {
  const std::filesystem::path parent = place.empty() ? std::filesystem::temp_directory_path() : place;
  if (!place.empty()) place_ = place;
  std::string name;
  for (int i = 0; i < attempts_max; ++i) {
    make_directories(parent);
    name = (parent / "sabath-program.XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) {
      directory_ = name;
      return;
    }
    if (errno != ENOENT) break;  // else another lane's program has ended, and took the empty place away
  }
  throw_errno("make a directory in", parent, errno);
}

Scratch::~Scratch() {
  remove_tree(directory_);
  if (!place_.empty()) ::rmdir(place_.c_str());  // unless others are in it
}

std::uint64_t Scratch::bytes() const {
  std::error_code error;
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
    if (const auto status = try_lstat(entry.path())) bytes += bytes_on_disk(*status);
  }
  return bytes;
}

}  // namespace sabath
