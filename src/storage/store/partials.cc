// The partials of an open store: opens them, looks for them, and measures what they hold on the disk.
#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "store/partials/known_partial.h"
#include "store/partials/leader_watch.h"
#include "store/partials/unknown_partial.h"
#include "store/state.h"

namespace sabath {
namespace {

std::uint64_t allocated_below(const std::filesystem::path& directory) {
  std::uint64_t sum = 0;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().filename() != partial_data_name) continue;
    if (const auto s = try_lstat(it->path())) sum += bytes_on_disk(*s);
  }
  return sum;
}

}  // namespace

std::uint64_t Store::held(const Digest& file) const { return allocated_below(state_->layout.partial(file)); }

std::uint64_t Store::held(const Sha256& source_key) const {
  return allocated_below(state_->layout.partial(source_key));
}

std::unique_ptr<SharedPartial> Store::open_partial(const Digest& digest, std::vector<Sha256> chunks) {
  return std::make_unique<KnownPartial>(*state_, digest, std::move(chunks));
}

std::unique_ptr<OwnPartial> Store::open_partial(const Sha256& source_key) {
  return std::make_unique<UnknownPartial>(*state_, source_key);
}

bool Store::has_partial(const Sha256& source_key) const {
  return !UnknownPartial::ownerless(*state_, source_key).empty();
}

std::unique_ptr<LeaderWatch> Store::watch_leader(const Sha256& source_key) {
  return std::make_unique<LeaderWatch>(*state_, source_key);
}

}  // namespace sabath
