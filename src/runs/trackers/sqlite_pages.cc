#include "trackers/sqlite_pages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <cerrno>

#include "sabath/error.h"
#include "sabath/path.h"
#include "trackers/sqlite_file.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t database_head = 100, log_head = 32, frame_head = 24;
constexpr std::size_t frames_max = 10'000'000;
// Bytes of the file that SQLite locks: sqlite.org/lockingv3.html, src/os.h.
constexpr off_t pending_byte = 0x40000000, reserved_byte = pending_byte + 1, shared_first = pending_byte + 2;
constexpr off_t shared_bytes = 510;

std::string read_part(const Fd& fd, std::uint64_t offset, std::size_t bytes, const fs::path& path) {
  std::string text(bytes, '\0');
  text.resize(read_at(fd.get(), std::as_writable_bytes(std::span(text)), offset, path));
  return text;
}

// True if it is locked, or the file system knows no locks.
bool try_lock(int fd, off_t start, off_t length, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  return ::fcntl(fd, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

// The checksum of the write-ahead log, in its own order of bytes.
class LogChecksum {
 public:
  explicit LogChecksum(bool big) : big_(big) {}
  void add(std::string_view text) {
    for (std::size_t at = 0; at + 8 <= text.size(); at += 8) {
      first_ += word(text.substr(at)) + second_;
      second_ += word(text.substr(at + 4)) + first_;
    }
  }
  [[nodiscard]] bool is(std::string_view two_words) const {
    return big_endian(two_words, 4) == first_ && big_endian(two_words.substr(4), 4) == second_;
  }

 private:
  [[nodiscard]] std::uint32_t word(std::string_view text) const {
    const auto value = static_cast<std::uint32_t>(big_endian(text, 4));
    return big_ ? value : __builtin_bswap32(value);
  }
  const bool big_;
  std::uint32_t first_ = 0, second_ = 0;
};

}  // namespace

std::uint64_t big_endian(std::string_view text, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes && i < text.size(); ++i) value = value << 8 | static_cast<unsigned char>(text[i]);
  return value;
}

bool is_sqlite_file(std::string_view front) { return front.starts_with(std::string_view("SQLite format 3\0", 16)); }

SqlitePages::SqlitePages(const fs::path& path) : path_(path), fd_(open_file(path, O_RDONLY)) {
  lock();
  refuse_hot_journal();
  const std::string head = read_part(fd_, 0, database_head, path_);
  if (head.size() < database_head || !is_sqlite_file(head)) fail("is no SQLite database");
  page_bytes_ = static_cast<std::size_t>(big_endian(std::string_view(head).substr(16), 2));
  if (page_bytes_ == 1) page_bytes_ = 65536;
  const auto reserved = static_cast<unsigned char>(head[20]);
  if (page_bytes_ < 512 || (page_bytes_ & (page_bytes_ - 1)) != 0 || page_bytes_ - reserved < 480)
    fail("has a size of pages that there is none of");
  usable_ = page_bytes_ - reserved;
  if (const auto encoding = big_endian(std::string_view(head).substr(56), 4); encoding > 1) fail("is not in UTF-8");
  const auto status = try_stat(path_);
  count_ = static_cast<std::uint32_t>(static_cast<std::uint64_t>(status ? status->st_size : 0) / page_bytes_);
  read_log();
}

void SqlitePages::fail(const std::string& why) const {
  throw Error(FailureKind::invalid, fmt::format("{} {}", printable(path_.string()), why),
              "`sqlite3 FILE 'pragma integrity_check'` says more");
}

// SQLite's shared lock: no writer changes pages while it is held.
void SqlitePages::lock() const {
  constexpr int tries = 100, wait_ms = 50;
  for (int i = 0; i < tries; ++i) {
    if (try_lock(fd_.get(), pending_byte, 1, F_RDLCK)) {
      const bool locked = try_lock(fd_.get(), shared_first, shared_bytes, F_RDLCK);
      static_cast<void>(try_lock(fd_.get(), pending_byte, 1, F_UNLCK));
      if (locked) return;
    }
    ::poll(nullptr, 0, wait_ms);
  }
  throw Error(FailureKind::storage, printable(path_.string()) + " is being written all the time",
              "try again when its writer has committed");
}

// A writer that died has left pages half changed, and how they were in a journal: only SQLite puts them back.
void SqlitePages::refuse_hot_journal() const {
  const auto journal = try_stat(path_.string() + "-journal");
  if (!journal || journal->st_size == 0) return;
  struct flock reserved {};
  reserved.l_type = F_WRLCK;
  reserved.l_whence = SEEK_SET;
  reserved.l_start = reserved_byte;
  reserved.l_len = 1;
  if (::fcntl(fd_.get(), F_OFD_GETLK, &reserved) == 0 && reserved.l_type != F_UNLCK) return;  // its writer lives
  const std::string head = read_part(open_file(path_.string() + "-journal", O_RDONLY), 0, 1, path_);
  if (head.empty() || head[0] == '\0') return;  // committed
  throw Error(FailureKind::invalid,
              printable(path_.string()) + " was left by a writer that died in the middle of a change",
              "open it once: `sqlite3 FILE .tables` puts the last commit back");
}

// Frames count up to the last commit whose checksums are right: sqlite.org/fileformat2.html#walformat.
void SqlitePages::read_log() {
  auto log = try_open_file(path_.string() + "-wal", O_RDONLY);
  if (!log) return;
  const std::string head = read_part(*log, 0, log_head, path_);
  const std::string_view view = head;
  if (view.size() < log_head || (big_endian(view, 4) | 1) != 0x377f0683U) return;
  LogChecksum checksum(big_endian(view, 4) == 0x377f0683U);
  checksum.add(view.substr(0, 24));
  if (!checksum.is(view.substr(24)) || big_endian(view.substr(8), 4) != page_bytes_) return;
  std::unordered_map<std::uint32_t, std::uint64_t> pending;
  std::uint64_t offset = log_head;
  for (std::size_t i = 0; i < frames_max; ++i, offset += frame_head + page_bytes_) {
    const std::string frame = read_part(*log, offset, frame_head + page_bytes_, path_);
    const std::string_view text = frame;
    if (text.size() < frame_head + page_bytes_ || text.substr(8, 8) != view.substr(16, 8)) break;
    checksum.add(text.substr(0, 8));
    checksum.add(text.substr(frame_head));
    if (!checksum.is(text.substr(16))) break;
    pending[static_cast<std::uint32_t>(big_endian(text, 4))] = offset + frame_head;
    const auto committed = static_cast<std::uint32_t>(big_endian(text.substr(4), 4));
    if (committed == 0) continue;
    count_ = committed;
    for (const auto& [number, where] : pending) logged_[number] = where;
    pending.clear();
  }
  log_ = std::move(*log);
}

std::string SqlitePages::page(std::uint32_t number) const {
  if (number == 0 || number > count_) fail(fmt::format("is damaged: it has no page {}", number));
  const auto logged = logged_.find(number);
  std::string text = logged != logged_.end()
                         ? read_part(log_, logged->second, page_bytes_, path_)
                         : read_part(fd_, static_cast<std::uint64_t>(number - 1) * page_bytes_, page_bytes_, path_);
  if (text.size() < page_bytes_) fail(fmt::format("is damaged: page {} is cut off", number));
  return text;
}

}  // namespace sabath
