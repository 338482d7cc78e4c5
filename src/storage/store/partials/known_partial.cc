#include "store/partials/known_partial.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/counted.h"
#include "machine/filesystem_kind.h"
#include "sabath/error.h"
#include "store/disk/clone.h"
#include "store/disk/durable.h"
#include "store/disk/listing.h"
#include "store/objects/chunk_check.h"

namespace sabath {
namespace {

bool same_file(const Fd& a, const Fd& b) {
  struct stat of_a = {}, of_b = {};
  return ::fstat(a.get(), &of_a) == 0 && ::fstat(b.get(), &of_b) == 0 && of_a.st_ino == of_b.st_ino;
}

// Has the filesystem promise space where it can do so for free; where it cannot, writing zeros would be worse than
// waiting. In memory a promise writes zeros, 0.25 s a GiB before the first byte: there it only checks that `lacks`
// bytes have room. In steps of `step`. Returns 0 or an errno.
int promise(const Fd& file, off_t size, off_t step, std::uint64_t lacks) {
  struct statfs about {};
  if (::fstatfs(file.get(), &about) == 0 && filesystem_kind(static_cast<unsigned long>(about.f_type)).in_memory) {
    const std::uint64_t room = about.f_bavail * static_cast<std::uint64_t>(about.f_bsize);
    return about.f_blocks > 0 && room < lacks ? ENOSPC : EOPNOTSUPP;  // no blocks: it has no limit
  }
  int result = 0;
  for (off_t at = 0; at < size && result == 0; at += step) {
    do {
      result = ::fallocate(file.get(), 0, at, std::min(step, size - at));
    } while (result != 0 && errno == EINTR);
  }
  return result == 0 ? 0 : errno;
}

}  // namespace

KnownPartial::KnownPartial(Stock& store, const Digest& digest, std::vector<Sha256> chunks, SteadyNow now)
    : store_(store),
      digest_(digest),
      chunks_(std::move(chunks)),
      directory_(store.layout.partial(digest)),
      data_path_(directory_ / partial_data_name),
      others_(directory_, store.writer, digest.hash, chunks_, std::move(now)),
      done_(chunks_.size()),
      scratch_(directory_, store.writer.text()) {
  if (chunks_.size() != chunk_count(digest.size_bytes) || digest_of_chunks(digest.size_bytes, chunks_) != digest) {
    throw Error(FailureKind::internal, fmt::format("the chunk hashes do not make {}", digest.hash.hex()));
  }
  retry_lost_directory([this] {
    // Look first: a publisher that died at its last step leaves the object and this directory, one file in both.
    published_ = store_.objects.present(digest_);
    if (published_) return;
    make_directories(directory_);
    data_ = open_data();
    journal_ = JournalWriter(directory_ / journal_name(store_.writer.text()), digest_.hash, store_.writer.host.boot);
  });
}

KnownPartial::~KnownPartial() {
  if (published_ || discarded_) return;
  try {
    const bool nothing = std::ranges::none_of(done_, [](bool done) { return done; }) && scratch_.empty();
    if (!nothing) return;
    others_.refresh(true);
    if (others_.any()) return;
    // Move it away first: a writer that opens it now has a journal there already, or makes the directory anew.
    const auto aside = store_.temporaries.new_name();
    rename_path(directory_, aside);
    const bool wanted = std::ranges::any_of(list_directory(aside), [this](const auto& file) {
      const std::string name = file.filename();
      const auto author = try_parse_journal_name(name);
      return author && *author != store_.writer.text();
    });
    if (wanted) static_cast<void>(rename_at(AT_FDCWD, aside.c_str(), AT_FDCWD, directory_.c_str()));
    remove_tree(aside);              // also if it could not go back: another is there, and its writers go there
  } catch (const std::exception&) {  // then it stays, for the next one
  }
}

std::shared_ptr<Fd> KnownPartial::open_data() {
  const auto there = try_lstat(data_path_);
  auto data = std::make_shared<Fd>(store_.layout.members().open_data(data_path_));
  const auto allocated = there ? std::min(bytes_on_disk(*there), digest_.size_bytes) : 0;
  promised_ = allocated == digest_.size_bytes;
  if (there && static_cast<std::uint64_t>(there->st_size) == digest_.size_bytes) return data;
  const auto size = static_cast<off_t>(digest_.size_bytes);
  // By chunk where blocks can be shared: btrfs gives back what a clone replaces only when all of one promise is
  // replaced.
  const auto step = store_.reflinks() ? static_cast<off_t>(chunk_size_bytes) : size;
  const int error = promise(*data, size, step, digest_.size_bytes - allocated);
  if (error != 0 && error != EOPNOTSUPP && error != ENOSYS && error != EINVAL) {
    if (!there) remove_tree(directory_);
    throw_errno(fmt::format("reserve {} bytes for", digest_.size_bytes), data_path_, error);
  }
  if (::ftruncate(data->get(), size) != 0) throw_errno("resize", data_path_, errno);
  store_.landing.add(error == 0 ? digest_.size_bytes - allocated : 0, 1);
  promised_ = error == 0;
  return data;
}

bool KnownPartial::at_its_name() const {
  const auto there = try_lstat(data_path_);
  struct stat ours {};
  return there && ::fstat(data_->get(), &ours) == 0 && there->st_ino == ours.st_ino;
}

bool KnownPartial::published_by_other() {
  if (published_ || at_its_name()) return published_;
  published_ = store_.objects.present(digest_);
  if (published_) {
    data_.reset();  // another's file may have become the object
  } else {
    come_back();
  }
  return published_;
}

// A writer that brought nothing moved the directory away for a moment as we came to it, or a purge removed it. This
// puts all work that our descriptor still shows back where the next writers look. A store that is gone is not made
// again: its owner removed it, or a disk was unmounted.
void KnownPartial::come_back() {
  const auto before = data_;
  check_reported(true);
  bool found = false;  // it went back meanwhile
  JournalWriter journal;
  retry_lost_directory([&] {
    if (::mkdir(directory_.c_str(), 0777) != 0 && errno != EEXIST) throw_errno("make directory", directory_, errno);
    auto now = open_data();
    found = same_file(*before, *now);
    if (!found) journal = {directory_ / journal_name(store_.writer.text()), digest_.hash, store_.writer.host.boot};
    data_ = found ? before : std::move(now);
  });
  if (found) return;
  others_.forget();  // their journals speak of that file
  journal_ = std::move(journal);
  std::vector<std::byte> bytes;
  for (std::uint64_t i = 0; i < done_.size(); ++i) {
    if (!done_[i]) continue;
    bytes.resize(chunk_length(digest_.size_bytes, i));
    done_[i] = read_at(before->get(), bytes, i * chunk_size_bytes, data_path_) == bytes.size();
    if (!done_[i]) continue;
    write_all_at(data_->get(), bytes, i * chunk_size_bytes, data_path_);
    note_done(i);
  }
}

void KnownPartial::note_done(std::uint64_t index) {
  journal_.append(JournalRecordType::done, index, chunks_[index]);
  done_[index] = true;
}

std::vector<bool> KnownPartial::chunks_done() {
  const std::lock_guard lock(mutex_);
  if (published_by_other()) return std::vector<bool>(chunks_.size(), true);
  others_.refresh(true);
  check_reported(false);
  std::vector<bool> done = done_;
  for (std::uint64_t i = 0; i < done.size(); ++i) done[i] = done[i] || others_.reports_done(i);
  return done;
}

// Reports of active writers are trusted until the end: publish() reads those chunks. Reports of inactive writers are
// checked now, so that a chunk lost in a crash is fetched again, and not found missing at the end.
void KnownPartial::check_reported(bool all) {
  std::vector<std::uint64_t> doubtful;
  for (std::uint64_t i = 0; i < chunks_.size(); ++i) {
    if (!done_[i] && others_.reports_done(i) && (all || !others_.reported_by_active(i))) doubtful.push_back(i);
  }
  if (doubtful.empty()) return;
  const auto hashes = hash_chunks(data_->get(), digest_.size_bytes, doubtful, data_path_);
  for (std::size_t i = 0; i < doubtful.size(); ++i) {
    if (hashes[i] == chunks_[doubtful[i]]) {
      done_[doubtful[i]] = true;
    } else {
      others_.disbelieve(doubtful[i]);
    }
  }
}

std::vector<ScratchBytes> KnownPartial::adopt_scratch(std::uint64_t index) {
  const std::lock_guard lock(mutex_);
  if (index >= chunks_.size() || done_[index] || published_) return {};
  others_.refresh(false);
  return others_.take_scratch(index, chunk_length(digest_.size_bytes, index));
}

std::map<std::uint64_t, std::uint64_t> KnownPartial::scratch_left() {
  const std::lock_guard lock(mutex_);
  if (published_) return {};
  others_.refresh(false);
  auto left = others_.scratch_left();
  std::erase_if(left, [this](const auto& start) { return done_[start.first]; });
  return left;
}

// Of two writers, the one that claims later sees the other's claim. If both claim before either looks, both see both:
// then names decide.
std::uint64_t KnownPartial::claim_run(std::uint64_t first, std::uint64_t count) {
  std::unique_lock lock(mutex_);
  others_.refresh(true);
  if (published_by_other()) return 0;
  std::uint64_t end = first;
  const std::uint64_t last = std::min<std::uint64_t>(first + count, chunks_.size());
  while (end < last && !done_[end] && !others_.reports_done(end) && !others_.claims(end)) ++end;
  for (std::uint64_t i = first; i < end; ++i) journal_.append(JournalRecordType::claim, i);
  if (end > first) others_.refresh(true);
  const std::uint64_t ours = await_way(lock, first, end);
  if (published_) return 0;
  for (std::uint64_t i = ours; i < end; ++i) journal_.append(JournalRecordType::release, i);
  return ours - first;
}

// Returns the end of the chunks that no other writer is at. A writer that looked before our claim was written does not
// know of it, and goes on though it should give way: then we give way.
std::uint64_t KnownPartial::await_way(std::unique_lock<std::mutex>& lock, std::uint64_t first, std::uint64_t end) {
  const auto until = std::chrono::steady_clock::now() + give_way_max;
  for (;;) {
    std::uint64_t ours = first;
    while (ours < end && !others_.reports_done(ours) && !others_.claims(ours)) ++ours;
    const bool waits = ours < end && !others_.reports_done(ours) && !others_.goes_before_us(ours);
    if (!waits || published_ || std::chrono::steady_clock::now() >= until) return ours;
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.lock();
    others_.refresh(true);
  }
}

void KnownPartial::release(std::uint64_t index) {
  const std::lock_guard lock(mutex_);
  if (!published_ && !done_[index]) journal_.append(JournalRecordType::release, index);
}

bool KnownPartial::claimed_by_other(std::uint64_t index) {
  const std::lock_guard lock(mutex_);
  if (published_ || index >= chunks_.size()) return published_;
  if (others_.refresh(false) && published_by_other()) return true;
  return done_[index] || others_.reports_done(index) || others_.claims(index);
}

void KnownPartial::write_scratch(unsigned lane, std::uint64_t index, std::uint64_t offset,
                                 std::span<const std::byte> part, std::size_t fresh) {
  {
    const std::lock_guard lock(mutex_);
    if (published_) return;
  }
  scratch_.write(lane, index, offset, part, fresh);
}

void KnownPartial::write_chunk(unsigned lane, std::uint64_t index, std::span<const std::byte> bytes,
                               const Sha256& hash) {
  copy_chunk(lane, index, bytes, hash, {});
}

void KnownPartial::copy_chunk(unsigned lane, std::uint64_t index, std::span<const std::byte> bytes, const Sha256& hash,
                              const ChunkOrigin& origin) {
  if (index >= chunks_.size() || bytes.size() != chunk_length(digest_.size_bytes, index) || hash != chunks_[index]) {
    throw Error(FailureKind::internal,
                fmt::format("chunk {} of {} is not what was expected", index, digest_.hash.hex()));
  }
  const std::uint64_t offset = index * chunk_size_bytes;
  std::shared_ptr<Fd> data;
  for (bool promised = false;;) {
    {
      const std::lock_guard lock(mutex_);
      if (data != nullptr && data == data_) {
        note_done(index);
        break;
      }
      // A writer that slept while another published has nothing to add, and must not touch the object.
      if (published_by_other()) return;
      data = data_;
      promised = promised_;
    }
    store_.layout.members().mark(data->get());
    if (!try_clone_range(origin.fd, origin.offset, bytes.size(), data->get(), offset, data_path_)) {
      if (!promised) store_.landing.add(bytes.size(), 0);
      write_all_at(data->get(), bytes, offset, data_path_);
    }
  }
  scratch_.chunk_done(lane, index);
}

std::size_t KnownPartial::read(std::uint64_t offset, std::span<std::byte> bytes) {
  const auto data = [this] {
    const std::lock_guard lock(mutex_);
    return data_;
  }();
  if (data) return read_at(data->get(), bytes, offset, data_path_);
  const auto object = store_.layout.object(digest_);
  auto fd = try_open_file(object, O_RDONLY);
  if (!fd && store_.objects.present(digest_))
    fd = try_open_file(object, O_RDONLY);  // a collection took it for a moment
  if (!fd) throw_errno("open", object, ENOENT);
  return read_at(fd->get(), bytes, offset, object);
}

FileTree KnownPartial::publish() {
  const std::lock_guard lock(mutex_);
  if (published_by_other()) {
    remove_tree(directory_);  // our files, put there after the other had removed it
    return tree();
  }
  others_.refresh(true);
  check_reported(true);
  const auto missing = std::ranges::count(done_, false);
  // Another writer published while we opened it: its journal is about the file that became the object, not ours.
  if (missing > 0 && store_.objects.present(digest_)) {
    published_ = true;
    data_.reset();
    remove_tree(directory_);
    return tree();
  }
  if (missing > 0) {
    throw Error(FailureKind::storage,
                fmt::format("{} of {} in {} not as its writer's journal says", missing, counted(done_.size(), "chunk"),
                            data_path_.native()),
                "run again: only these are fetched anew");
  }
  try {
    store_.objects.publish_data(data_->get(), data_path_, digest_);
  } catch (const SyncFailed&) {
    discarded_ = true;
    remove_tree(directory_);
    throw;
  }
  published_ = true;
  remove_tree(directory_);
  return tree();
}

void KnownPartial::discard() {
  const std::lock_guard lock(mutex_);
  discarded_ = true;
  remove_tree(directory_);
}

}  // namespace sabath
