// What a partial holds of the disk already: a resumed fetch needs so much less room.
#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "store/state.h"

namespace sabath {
namespace {

std::uint64_t allocated_below(const std::filesystem::path& directory) {
  std::uint64_t sum = 0;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().filename() != partial_data_name) continue;
    if (const auto s = try_lstat(it->path())) sum += static_cast<std::uint64_t>(s->st_blocks) * 512;
  }
  return sum;
}

}  // namespace

std::uint64_t Store::held(const Digest& file) const { return allocated_below(state_->layout.partial(file)); }

std::uint64_t Store::held(const Sha256& source_key) const {
  return allocated_below(state_->layout.partial(source_key));
}

}  // namespace sabath
