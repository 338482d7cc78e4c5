// From finished temporaries to objects: durable first, then in place, then the names durable, then the evidence.
#include <unistd.h>

#include <algorithm>

#include "sabath/error.h"
#include "store/pack_stream.h"
#include "store/state.h"

namespace sabath {
namespace {
// At most this many single fsyncs cost less than one sync of the whole filesystem, which writes others' data, too.
constexpr std::size_t single_syncs_max = SyncGroup::open_files_max;
}  // namespace

std::unique_ptr<ObjectWriter> Store::write_object(std::uint64_t of_files) {
  auto group = state_->current_group();  // before the file is made: see SyncGroup
  const auto small_max = packs(of_files) ? std::optional(state_->pack_threshold) : std::nullopt;
  return std::make_unique<ObjectWriter>(state_->temporaries, std::move(group), small_max);
}

bool Store::packs(std::uint64_t files) const { return state_->pack_threshold > 0 && files >= pack_files_min; }
std::uint64_t Store::pack_threshold() const { return state_->pack_threshold; }

// Moves small contents from `finished` into packs.
void Store::pack_small(std::vector<std::unique_ptr<ObjectWriter>>& finished) {
  PackStream stream(*this);
  std::erase_if(finished, [&](const auto& writer) {
    const Digest& digest = writer->tree_.digest;
    if (digest.size_bytes > state_->pack_threshold) return false;
    const auto content = writer->content();
    if (!is_content(content, digest)) throw Error(FailureKind::storage, "what was kept has changed", "run again");
    if (stream.add(digest, content)) stream.publish_full();
    return true;
  });
  stream.publish_all();
}

void Store::publish(std::vector<std::unique_ptr<ObjectWriter>> finished, std::uint64_t of_files) {
  state_->begin_new_group();
  for (const auto& writer : finished) {
    if (!writer->finished_) throw Error(FailureKind::internal, "an object was published before it was finished");
  }
  if (packs(of_files)) pack_small(finished);
  for (const auto& writer : finished) state_->landing.add(writer->tree_.digest.size_bytes, 1);
  for (const auto& writer : finished) writer->become_file();
  const auto still_open = [](const auto& writer) { return static_cast<bool>(writer->fd_); };
  const bool single = finished.size() <= single_syncs_max && std::ranges::all_of(finished, still_open);
  std::set<SyncGroup*> groups;
  for (const auto& writer : finished) {
    if (single) {
      sync_file(writer->fd_.get(), writer->temporary_);
    } else if (writer->group_->whole()) {
      groups.insert(writer->group_.get());
    }
    close_file(std::move(writer->fd_), writer->temporary_);
  }
  for (SyncGroup* group : groups) group->sync();

  Objects::Directories touched;
  for (const auto& writer : finished) {
    const Digest& digest = writer->tree_.digest;
    static_cast<void>(state_->objects.place(digest, touched, [&](const std::filesystem::path& to) {
      const ObjectPlace* const place = writer->place_.get();
      if (place != nullptr && place->link_as(to, digest) != Move::done) return Move::occupied;
      if (place == nullptr && !rename_unless_there(writer->temporary_, to)) return Move::occupied;
      writer->published_ = true;
      const auto now = place != nullptr ? place->now() : std::nullopt;
      now ? state_->evidence.add(digest, *now) : state_->objects.attest(digest, to);
      return Move::done;
    }));
  }
  if (touched.size() > single_syncs_max && !groups.empty()) {
    (*groups.begin())->sync();
  } else {
    for (const auto& directory : touched) sync_directory(directory);
  }
  state_->evidence.flush();
  state_->arrivals.flush();
}

}  // namespace sabath
