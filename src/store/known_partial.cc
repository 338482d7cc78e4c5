#include "store/known_partial.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "sabath/error.h"
#include "store/chunk_check.h"
#include "store/durable.h"

namespace sabath {
namespace {

[[noreturn]] void refuse_front(const char* what) {
  throw Error(FailureKind::internal, fmt::format("{} of a partial whose chunks are known", what));
}

}  // namespace

KnownPartial::KnownPartial(Store::State& store, const Digest& digest, std::vector<Sha256> chunks, SteadyNow now)
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
    // Looked for first: a publisher that died at its last step leaves the object and this directory, one file in both.
    published_ = store_.objects.present(digest_);
    if (published_) return;
    make_directories(directory_);
    open_data();
    journal_ = JournalWriter(directory_ / journal_name(store_.writer.text()), digest_.hash, store_.writer.host.boot);
  });
}

KnownPartial::~KnownPartial() {
  if (published_ || discarded_) return;
  try {
    const bool nothing = std::ranges::none_of(done_, [](bool done) { return done; }) && scratch_.empty();
    if (!nothing) return;
    others_.refresh(true);
    if (!others_.any()) remove_tree(directory_);
  } catch (const std::exception&) {  // then it stays, for the next one
  }
}

void KnownPartial::open_data() {
  const auto there = try_lstat(data_path_);
  // A publisher that died between sealing and naming it leaves it read-only.
  if (there && (there->st_mode & S_IWUSR) == 0) ::chmod(data_path_.c_str(), there->st_mode | S_IWUSR);
  data_ = open_file(data_path_, O_RDWR | O_CREAT | O_NOFOLLOW);
  if (there && static_cast<std::uint64_t>(there->st_size) == digest_.size_bytes) return;
  const auto size = static_cast<off_t>(digest_.size_bytes);
  int result = 0;
  do {
    if (size > 0) result = ::fallocate(data_.get(), 0, 0, size);
  } while (result != 0 && errno == EINTR);
  // Space is promised now, where the filesystem can promise; where it cannot, writing zeros would be worse than
  // waiting.
  const int error = result == 0 ? 0 : errno;
  if (error != 0 && error != EOPNOTSUPP && error != ENOSYS && error != EINVAL) {
    if (!there) remove_tree(directory_);
    throw_errno(fmt::format("reserve {} bytes for", digest_.size_bytes), data_path_, error);
  }
  if (::ftruncate(data_.get(), size) != 0) throw_errno("resize", data_path_, errno);
}

bool KnownPartial::at_its_name() const {
  const auto there = try_lstat(data_path_);
  struct stat ours {};
  return there && ::fstat(data_.get(), &ours) == 0 && there->st_ino == ours.st_ino;
}

bool KnownPartial::published_by_other() {
  if (!published_ && !at_its_name()) published_ = store_.objects.present(digest_);
  return published_;
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

// Whoever is still at work is believed until the end: publish() reads the rest. What the dead left is read now, so that
// a chunk which a crash took is fetched again, and not found missing at the end.
void KnownPartial::check_reported(bool all) {
  std::vector<std::uint64_t> doubtful;
  for (std::uint64_t i = 0; i < chunks_.size(); ++i) {
    if (!done_[i] && others_.reports_done(i) && (all || !others_.reported_by_active(i))) doubtful.push_back(i);
  }
  if (doubtful.empty()) return;
  const auto hashes = hash_chunks(data_.get(), digest_.size_bytes, doubtful, data_path_);
  for (std::size_t i = 0; i < doubtful.size(); ++i) {
    if (hashes[i] == chunks_[doubtful[i]]) {
      done_[doubtful[i]] = true;
    } else {
      others_.disbelieve(doubtful[i]);
    }
  }
}

std::vector<std::byte> KnownPartial::adopt_scratch(std::uint64_t index) {
  const std::lock_guard lock(mutex_);
  if (index >= chunks_.size() || done_[index] || published_) return {};
  others_.refresh(false);
  auto start = others_.take_scratch(index, chunk_length(digest_.size_bytes, index));
  if (!start.empty()) scratch_.adopt(index, start);
  return start;
}

std::map<std::uint64_t, std::uint64_t> KnownPartial::scratch_left() {
  const std::lock_guard lock(mutex_);
  if (published_) return {};
  others_.refresh(false);
  auto left = others_.scratch_left();
  std::erase_if(left, [this](const auto& start) { return done_[start.first]; });
  return left;
}

void KnownPartial::claim(std::uint64_t index) {
  const std::lock_guard lock(mutex_);
  if (published_) return;
  journal_.append(JournalRecordType::claim, index);
}

std::uint64_t Partial::claim_run(std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = first; i < first + count; ++i) claim(i);
  return count;
}

// Whoever wrote its claim later sees the other's. Those that wrote before either looked both see both: then names
// decide.
std::uint64_t KnownPartial::claim_run(std::uint64_t first, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  others_.refresh(true);
  if (published_by_other()) return 0;
  std::uint64_t end = first;
  const std::uint64_t last = std::min<std::uint64_t>(first + count, chunks_.size());
  while (end < last && !done_[end] && !others_.reports_done(end) && !others_.claims(end)) ++end;
  for (std::uint64_t i = first; i < end; ++i) journal_.append(JournalRecordType::claim, i);
  if (end > first) others_.refresh(true);
  std::uint64_t ours = first;
  while (ours < end && !others_.reports_done(ours) && !others_.goes_before_us(ours)) ++ours;
  for (std::uint64_t i = ours; i < end; ++i) journal_.append(JournalRecordType::release, i);
  return ours - first;
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
                                 std::span<const std::byte> bytes) {
  if (data_) scratch_.write(lane, index, offset, bytes);
}

void KnownPartial::write_chunk(unsigned lane, std::uint64_t index, std::span<const std::byte> bytes,
                               const Sha256& hash) {
  if (index >= chunks_.size() || bytes.size() != chunk_length(digest_.size_bytes, index) || hash != chunks_[index]) {
    throw Error(FailureKind::internal,
                fmt::format("chunk {} of {} is not what was expected", index, digest_.hash.hex()));
  }
  // A writer that slept while another published has nothing to add, and must not touch the object.
  if (!data_ || !at_its_name()) return;
  write_all_at(data_.get(), bytes, index * chunk_size_bytes, data_path_);
  {
    const std::lock_guard lock(mutex_);
    journal_.append(JournalRecordType::done, index, hash);
    done_[index] = true;
  }
  scratch_.chunk_done(lane, index);
}

std::size_t KnownPartial::read(std::uint64_t offset, std::span<std::byte> bytes) {
  if (data_) return read_at(data_.get(), bytes, offset, data_path_);
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
    remove_tree(directory_);  // what we put there after the other had removed it
    return tree();
  }
  others_.refresh(true);
  check_reported(true);
  const auto missing = std::ranges::count(done_, false);
  if (missing > 0) {
    throw Error(FailureKind::storage,
                fmt::format("{} of {} chunks in {} are not what their writers' journals say", missing, done_.size(),
                            data_path_.native()),
                "run again: only these are fetched anew");
  }
  try {
    store_.objects.publish_data(data_.get(), data_path_, digest_);
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

// One question of the interface has no meaning here: there is no front.
void KnownPartial::adopt_front(const Validators&, const std::function<void(std::span<const std::byte>)>&) {
  refuse_front("the front");
}
Validators KnownPartial::validators_noted() const { return {}; }
void KnownPartial::note_validators(const Validators&, std::optional<std::uint64_t>) {}
std::uint64_t KnownPartial::front() const { refuse_front("the front"); }
void KnownPartial::restart() { refuse_front("a restart"); }

std::unique_ptr<Partial> Store::open_partial(const Digest& digest, std::vector<Sha256> chunks) {
  return std::make_unique<KnownPartial>(*state_, digest, std::move(chunks));
}

}  // namespace sabath
