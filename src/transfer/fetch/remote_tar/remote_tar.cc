#include "fetch/remote_tar/remote_tar.h"

#include <utility>

#include "sabath/error.h"
#include "store/store.h"

namespace sabath {

namespace {
constexpr std::uint64_t complete = UINT64_MAX;  // of what an index covers
}

RemoteTar::RemoteTar(FetchContext& context, Source source)
    : context_(context), source_(std::move(source)), reader_(context, source_.name, source_.url) {
  if (source_.fresh) return;
  const auto kept = context_.store.index(source_.key, tar_index_size_max);
  if (kept) index_ = TarIndex::try_decode(source_.name, *kept);
  if (index_ && source_.size_bytes && *source_.size_bytes != index_->size_bytes()) index_.reset();
  if (!index_) return;
  kept_to_ = index_->complete() ? complete : index_->next();
  reader_.open(index_->size_bytes(), index_->version());
}

void RemoteTar::open() {
  reader_.open(source_.size_bytes);
  index_.emplace(source_.name, reader_.size_bytes(), reader_.version());
}

std::vector<std::size_t> RemoteTar::choose(const std::function<bool(const TarEntry&)>& wanted,
                                           std::optional<std::uint64_t> sample) {
  if (!index_) open();
  std::vector<std::size_t> chosen;
  std::uint64_t files = 0;
  try {
    walk_on(wanted, sample, chosen, files);
  } catch (const Error& error) {
    const FailureKind kind = error.failure().kind;
    if (kind == FailureKind::network || kind == FailureKind::interrupted || kind == FailureKind::terminated)
      keep_index();  // what was learnt until here is learnt
    throw;
  }
  keep_index();
  return chosen;
}

void RemoteTar::walk_on(const std::function<bool(const TarEntry&)>& wanted, std::optional<std::uint64_t> sample,
                        std::vector<std::size_t>& chosen, std::uint64_t& files) {
  const TarRead read = [this](std::uint64_t offset, std::size_t length) { return reader_.at(offset, length); };
  std::size_t seen = 0;
  std::uint64_t matched_in_row = 0;  // all that were met lately were wanted: what is between the headers is, too
  for (;;) {
    for (; seen < index_->entries().size(); ++seen) {
      if (sample && files == *sample) return;
      const TarEntry& entry = index_->entries()[seen];
      if (entry.type == EntryType::directory) continue;
      const bool take = wanted(entry);
      matched_in_row = take ? matched_in_row + 1 : 0;
      if (!take) continue;
      chosen.push_back(seen);
      if (entry.is_file()) ++files;
    }
    if (index_->complete() || (sample && files == *sample)) return;
    if (context_.stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
    const std::uint64_t left = sample ? *sample - files : UINT64_MAX;
    reader_.expect(index_->next(), left, sample && (matched_in_row > 0 || seen == 0));
    const auto member = read_tar_member(source_.name, read, index_->next(), index_->size_bytes());
    if (member)
      take(*member);
    else
      index_->end();
  }
}

void RemoteTar::take(const TarMember& member) {
  if (!source_.wants_name || is_archive_path(member.name) || source_.wants_name(member.name))
    return index_->add(member);
  index_->pass(member);
  passed_ = true;
}

void RemoteTar::keep_index() {
  const std::uint64_t reached = index_->complete() ? complete : index_->next();
  if (reached == kept_to_ || passed_) return;
  context_.store.put_index(source_.key, index_->encode());
  kept_to_ = reached;
}

}  // namespace sabath
