#include "fetch/transfer/follow.h"

#include "fetch/hosts/source_key.h"

namespace sabath {

std::unique_ptr<LeaderWatch> watch_for(const FetchContext& context, const FileJob& job) {
  const bool alone = context.force || job.known || job.unless || job.inspect || job.follower != nullptr;
  return alone ? nullptr : context.store.watch_leader(source_key(job));
}

bool has_leader(const FetchContext& context, std::uint64_t size_bytes) {
  constexpr std::uint64_t lone_size_min = std::uint64_t{256} << 10;  // less stands in the buffers of a connection
  return size_bytes > chunk_size_bytes || (!context.many && size_bytes >= lone_size_min);
}

SourceVersion adopt_left(OwnPartial& partial, LeaderWatch* watch, bool provable,
                         const std::function<void(std::span<const std::byte>)>& tee) {
  SourceVersion version = partial.version_noted();
  partial.adopt_front(version, tee);
  const auto left = watch != nullptr ? watch->left_version() : std::nullopt;
  if (!left || (left->validators.empty() && !provable)) return version;  // nothing could tell a mixture from the file
  if (partial.front() > 0 && *left != version) return version;
  if (watch->copy_left(partial, *left, tee) > 0) version = *left;
  return version;
}

}  // namespace sabath
