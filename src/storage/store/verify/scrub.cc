#include "store/verify/scrub.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/hash.h"
#include "base/threads.h"
#include "sabath/error.h"
#include "store/disk/listing.h"
#include "store/leases/lease_file.h"
#include "store/leases/uses.h"
#include "store/partials/known_partial.h"

namespace sabath {
namespace {

constexpr std::uint64_t chunks_per_task = 16;
constexpr unsigned scrub_threads_max = 256;

}  // namespace

Scrub::Scrub(Store::State& store, VerifyReport& report, const VerifyOptions& options)
    : store_(store), report_(report), options_(options), now_ns_(server_now_or_ours(store.temporaries)) {}

struct Scrub::Reading {
  Item item;
  std::filesystem::path file;
  std::once_flag opened;
  Fd fd;
  struct stat before {};
  std::optional<Checked::Last> last;  // an earlier look, where this one is quick
  bool remembered = false;            // lately enough: nothing is read
  bool gone = false;
  std::vector<Sha256> hashes;
  std::vector<std::uint64_t> quick_hashes;
  std::atomic<std::uint64_t> tasks_left{0};
  std::mutex mutex;
  std::string trouble;  // why it could not be read
};

std::optional<Scrub::Task> Scrub::next() {
  const std::lock_guard lock(mutex_);
  if (failure_) return std::nullopt;
  if (!current_.reading) {
    if (items_.empty()) return std::nullopt;
    auto reading = std::make_shared<Reading>();
    reading->item = std::move(items_.front());
    items_.pop_front();
    const Item& item = reading->item;
    reading->file = item.in_view ? store_.layout.view(item.of->root()) / item.path : store_.layout.object(item.digest);
    const std::uint64_t chunks = chunk_count(item.digest.size_bytes);
    reading->hashes.resize(chunks);
    reading->quick_hashes.resize(chunks);
    reading->tasks_left = std::max<std::uint64_t>(1, (chunks + chunks_per_task - 1) / chunks_per_task);
    current_ = {std::move(reading), 0, 0};
  }
  current_.first = current_.end;
  current_.end = std::min(current_.end + chunks_per_task, current_.reading->hashes.size());
  Task task = current_;
  if (current_.end == current_.reading->hashes.size()) current_ = {};
  return task;
}

void Scrub::run() {
  store_.checked.refresh();
  const unsigned threads = options_.threads == 0 ? std::thread::hardware_concurrency() : options_.threads;
  {
    std::vector<std::jthread> helpers;
    const auto help = [this] { work(); };
    for (unsigned i = 1; i < std::min(threads, scrub_threads_max) && try_add_thread(helpers, help); ++i) {}
    work();
  }
  store_.checked.flush();  // also files read before a stop request
  if (failure_) std::rethrow_exception(failure_);
  if (!bad_inodes_.empty()) remove_from_views();
  store_.evidence.flush();
}

void Scrub::work() {
  try {
    std::vector<std::byte> buffer(chunk_size_bytes);
    while (const auto task = next()) {
      Reading& reading = *task->reading;
      try {
        std::call_once(reading.opened, [&] { begin(reading); });
        if (!reading.remembered && !reading.gone) read(reading, task->first, task->end, buffer);
      } catch (const Error& error) {
        const std::lock_guard lock(reading.mutex);
        reading.trouble = error.what();
      }
      if (--reading.tasks_left == 0) judge(reading);
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void Scrub::begin(Reading& reading) {
  auto fd = try_open_file(reading.file, O_RDONLY | O_NONBLOCK);
  reading.gone = !fd;
  if (!fd) return;
  if (::fstat(fd->get(), &reading.before) != 0) throw_errno("stat", reading.file, errno);
  reading.fd = std::move(*fd);
  const Digest& digest = reading.item.digest;
  const auto last = store_.checked.find(digest, reading.before);
  if (!last || reading.item.fully) return;
  const bool lately = options_.within && now_ns_ - last->time_ns < std::chrono::nanoseconds(*options_.within).count();
  reading.remembered = lately && store_.evidence.matches(digest, reading.before);
  if (options_.quick) reading.last = last;
}

void Scrub::read(Reading& reading, std::uint64_t first, std::uint64_t end, std::vector<std::byte>& buffer) {
  for (std::uint64_t i = first; i < end; ++i) {
    const auto chunk = std::span(buffer).first(chunk_length(reading.item.digest.size_bytes, i));
    const std::size_t n = read_at(reading.fd.get(), chunk, i * chunk_size_bytes, reading.file);
    if (n == chunk.size()) {
      reading.quick_hashes[i] = xxh3_64(chunk);
      if (!reading.last) reading.hashes[i] = hash_chunk(chunk);
    }
    const std::lock_guard lock(mutex_);
    report_.bytes_read += n;
    if (options_.on_bytes && n > 0) options_.on_bytes(n);
  }
}

void Scrub::again(const Reading& reading, bool fully) {
  const std::lock_guard lock(mutex_);
  items_.push_back(reading.item);
  items_.back().fully = fully;
}

void Scrub::take_gone(const Reading& reading) {
  const Item& item = reading.item;
  // In the whole store, only a link to a user's file that is gone is missing; an object without a name is not.
  const auto named = item.of == nullptr ? try_lstat(reading.file) : std::nullopt;
  if (item.in_view || (item.of == nullptr && !named)) return;
  if (named && !S_ISLNK(named->st_mode)) return again(reading, item.fully);  // it was away for a moment
  const std::lock_guard lock(mutex_);
  ++report_.missing;
  report_.missing_paths.push_back(item.path.empty() ? item.digest.hash.prefixed() : item.path);
}

// Another user's file that cannot be read and that no asset names: no asset loses it.
bool Scrub::is_strangers(const Reading& reading) const {
  const auto there = try_lstat(reading.file);
  return reading.item.of == nullptr && there && there->st_uid != ::geteuid() && !try_recognise(reading.item.digest);
}

void Scrub::note_stray(const std::filesystem::path& file) {
  const auto there = try_lstat(file);
  if (!there) return;  // it is gone
  const std::lock_guard lock(mutex_);
  report_.strays.push_back({file.lexically_relative(store_.layout.root()), there->st_uid});
}

void Scrub::remember(const Reading& reading, const struct stat& now) {
  store_.evidence.add(reading.item.digest, now);
  store_.checked.add({reading.item.digest, now.st_ino, nanoseconds(now.st_mtim),
                      xxh3_64(std::as_bytes(std::span(reading.quick_hashes))), now_ns_});
}

void Scrub::judge(Reading& reading) {
  const Digest& digest = reading.item.digest;
  if (reading.gone) return take_gone(reading);
  if (reading.remembered) {
    const std::lock_guard lock(mutex_);
    ++report_.remembered;
    return;
  }
  struct stat after {};
  if (reading.fd && ::fstat(reading.fd.get(), &after) != 0) reading.trouble = "stat failed";
  const bool still = reading.fd && Fact::of(digest, reading.before) == Fact::of(digest, after);
  const bool whole =
      reading.fd && reading.trouble.empty() && static_cast<std::uint64_t>(after.st_size) == digest.size_bytes;
  if (reading.last && reading.trouble.empty()) {
    const bool same = whole && xxh3_64(std::as_bytes(std::span(reading.quick_hashes))) == reading.last->xxh3;
    if (!same) return again(reading, true);
  }
  {
    const std::lock_guard lock(mutex_);
    ++(reading.item.in_view ? report_.copies : report_.files);
    if (reading.last && whole) ++report_.quick;
  }
  const bool right = whole && (reading.last || digest_of_chunks(digest.size_bytes, reading.hashes) == digest);
  if (right && still) remember(reading, after);
  if (right) return;  // another process's link or unlink is no change of the bytes
  const std::string& path = reading.item.path;
  if (!reading.fd && is_strangers(reading)) return note_stray(reading.file);
  if (!reading.fd) return blame(digest, path, 0, reading.trouble);
  if (reading.trouble.empty() && !still) return blame(digest, path, 0, "it changed while it was read: verify again");
  const auto named = try_stat(reading.file);
  if (!named || named->st_ino != reading.before.st_ino) return again(reading, true);  // another file stands there
  store_.evidence.distrust(digest);
  const std::string aside = put_aside(reading);
  if (!reading.trouble.empty()) return blame(digest, path, 0, reading.trouble + aside);
  if (static_cast<std::uint64_t>(after.st_size) != digest.size_bytes) {
    blame(digest, path, 0, fmt::format("it is {} bytes long{}", after.st_size, aside));
    if (options_.salvage) salvage(reading, chunk_layer(reading.item));
    return;
  }
  name_bad_chunks(reading, aside);
}

std::vector<Sha256> Scrub::chunk_layer(const Item& item) const {
  if (chunk_count(item.digest.size_bytes) == 1) return {item.digest.hash};
  const Item known = item.of != nullptr ? item : try_recognise(item.digest).value_or(item);
  const auto entry = known.of == nullptr ? std::nullopt : known.of->find(RelativePath::parse(known.path));
  return entry ? known.of->chunks(*entry) : std::vector<Sha256>{};
}

void Scrub::name_bad_chunks(const Reading& reading, const std::string& aside) {
  const Item item =
      reading.item.of != nullptr ? reading.item : try_recognise(reading.item.digest).value_or(reading.item);
  const auto layer = chunk_layer(item);
  const std::string whose = item.in_view ? "the view's copy does" : "the bytes do";
  if (layer.size() != reading.hashes.size()) {
    return blame(item.digest, item.path, 0, fmt::format("{} not make its digest{}", whose, aside));
  }
  for (std::uint64_t i = 0; i < layer.size(); ++i) {
    if (layer[i] == reading.hashes[i]) continue;
    blame(item.digest, item.path, i, fmt::format("{} not match the chunk's hash{}", whose, aside));
  }
  if (options_.salvage && !item.in_view) salvage(reading, layer);
}

std::uint64_t Scrub::salvage(const Reading& reading, const std::vector<Sha256>& layer) {
  const Digest& digest = reading.item.digest;
  std::uint64_t saved = 0;
  if (layer.size() < 2 || digest_of_chunks(digest.size_bytes, layer) != digest) return saved;
  try {
    const auto partial = std::make_unique<KnownPartial>(store_, digest, layer);
    const auto done = partial->chunks_done();
    std::vector<std::byte> buffer(chunk_size_bytes);
    for (std::uint64_t i = 0; i < layer.size(); ++i) {
      if (done[i] || reading.hashes[i] != layer[i]) continue;
      const auto chunk = std::span(buffer).first(chunk_length(digest.size_bytes, i));
      const std::size_t n = read_at(reading.fd.get(), chunk, i * chunk_size_bytes, reading.file);
      if (n != chunk.size() || hash_chunk(chunk) != layer[i]) continue;  // it rots under our eyes
      partial->write_chunk(0, i, chunk, layer[i]);
      ++saved;
    }
    if (std::ranges::count(partial->chunks_done(), false) == 0) partial->publish();
  } catch (const Error&) {  // no room, say: then all of it is fetched again
  }
  return saved;
}

std::optional<Scrub::Item> Scrub::try_recognise(const Digest& digest) const {
  std::optional<Item> found;
  for (std::size_t i = 0; manifests_ != nullptr && i < manifests_->size() && !found; ++i) {
    const Manifest& manifest = (*manifests_)[i];
    manifest.for_each([&](const Entry& entry) {
      if (!found && entry.is_file() && entry.digest == digest)
        found = Item{digest, entry.path.text(), false, &manifest};
    });
  }
  return found;
}

std::string Scrub::put_aside(const Reading& reading) {
  const auto named = try_lstat(reading.file);
  if (!store_.objects.quarantine(reading.file)) return "; it could not be put aside";
  const std::lock_guard lock(mutex_);
  if (named && S_ISREG(named->st_mode) && named->st_nlink > 1) bad_inodes_.insert(named->st_ino);
  return {};
}

void Scrub::remove_from_views() {
  for_each_file_below(store_.layout.views(), [this](const std::filesystem::path& file) {
    const auto s = try_lstat(file);
    if (!s || !S_ISREG(s->st_mode) || !bad_inodes_.contains(s->st_ino)) return;
    if (::unlink(file.c_str()) == 0) {
      blame({}, file.lexically_relative(store_.layout.root()), 0, "it was a link to a bad object: removed", true);
    }
  });
}

void Scrub::blame(const Digest& file, const std::string& path, std::uint64_t chunk, std::string what,
                  bool removed_link) {
  const std::lock_guard lock(mutex_);
  report_.bad.push_back({file, path, chunk, chunk * chunk_size_bytes, std::move(what), removed_link});
}

}  // namespace sabath
