#include "fetch/archive_part.h"

#include <fcntl.h>

#include <utility>

#include "base/file.h"
#include "base/threads.h"

namespace sabath {

ArchivePart::~ArchivePart() { follower_.abandon(); }

void ArchivePart::prepare() {
  if (is_local()) return adopt_local();
  own_job().follower = &follower_;
  unpacker_ = start_thread([this] { unpack(); });
}

void ArchivePart::take(FileOutcome outcome) {
  if (outcome.failure || outcome.unchanged) follower_.abandon();
  FragmentPart::take(std::move(outcome));
}

// Runs in the part's own thread, once more if the archive was fetched anew meanwhile.
void ArchivePart::unpack() {
  const ReadAt read = [&](std::uint64_t offset, std::span<std::byte> bytes) { return follower_.read(offset, bytes); };
  const FetchContext& context = scope_.context;
  for (;;) {
    follower_.begin();
    try {
      unpack_failure_ = nullptr;
      unpacked_ = unpack_archive(own_job().name, read, context.store, context.space, context.stop);
      return;
    } catch (const Error& error) {
      unpacked_ = {};
      if (error.failure().kind == FailureKind::changed) continue;
      unpack_failure_ = std::current_exception();
      // The source that gave it may turn out to be wrong, and another to be right.
      if (error.failure().kind != FailureKind::invalid || !follower_.comes_anew()) return;
    } catch (...) {
      unpack_failure_ = std::current_exception();
      return;
    }
  }
}

FileOutcome ArchivePart::read_local(const LocalFile& file, std::uint64_t) {
  const FetchContext& context = scope_.context;
  const std::filesystem::path name = file.path;
  const Fd fd = open_file(name, O_RDONLY);
  ChecksumSet sums(fragment().checksum);
  std::uint64_t summed = 0;
  const ReadAt read = [&](std::uint64_t offset, std::span<std::byte> bytes) {
    const std::size_t n = read_at(fd.get(), bytes, offset, name);
    if (offset <= summed && offset + n > summed) {  // each byte once, however often it is read
      sums.update(bytes.first(n).subspan(summed - offset));
      summed = offset + n;
    }
    return n;
  };
  unpacked_ = unpack_archive(own_job().name, read, context.store, context.space, context.stop);
  FileOutcome outcome;
  outcome.computed = sums.finish_and_compare(file.path);
  return outcome;
}

void ArchivePart::await_unpacker() {
  if (unpacker_.joinable()) unpacker_.join();
}

bool ArchivePart::enter() {
  await_unpacker();
  if (unpack_failure_) std::rethrow_exception(unpack_failure_);
  for (const auto& entry : unpacked_.entries) {
    const RelativePath path = place(entry.path);
    switch (entry.type) {
      case EntryType::directory:
        entries_.add_directory(path);
        break;
      case EntryType::symlink:
        entries_.add_symlink(path, entry.target);
        break;
      default:
        entries_.add_file(path, entry.tree.digest, entry.tree.chunks, entry.type == EntryType::executable);
    }
  }
  if (fragment().path) entries_.add_directory(*fragment().path);
  return true;
}

void ArchivePart::publish() {
  scope_.context.events.on(event::PhaseChanged{"publish"});
  scope_.files_done += unpacked_.files;
  store().publish(std::move(unpacked_.objects), unpacked_.files);
  if (unpacked_.packs) unpacked_.packs->publish_all();
  const auto spool = follower_.take();
  if (!spool) return;
  if (!scope_.request.keep_archives) return spool->discard();
  FileOutcome kept;
  kept.tree = spool->publish();
  kept.computed = outcome_.computed;
  remember_aliases(kept);  // so that others can ask this store for it
}

// Whole, and refused all the same.
void ArchivePart::discard() {
  await_unpacker();
  if (const auto spool = follower_.take()) spool->discard();
}

}  // namespace sabath
