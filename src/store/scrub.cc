#include "store/scrub.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>

#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::uint64_t chunks_per_task = 16;
constexpr unsigned threads_max = 256;

}  // namespace

struct Scrub::Reading {
  Item item;
  std::filesystem::path file;
  std::once_flag opened;
  Fd fd;
  struct stat before {};
  std::vector<Sha256> hashes;
  std::atomic<std::uint64_t> tasks_left{0};
  std::mutex mutex;
  std::string trouble;  // why it could not be read
};

std::optional<Scrub::Task> Scrub::next() {
  const std::lock_guard lock(mutex_);
  if (failure_) return std::nullopt;
  if (!current_.reading) {
    if (next_item_ == items_.size()) return std::nullopt;
    auto reading = std::make_shared<Reading>();
    reading->item = std::move(items_[next_item_++]);
    const Item& item = reading->item;
    reading->file = item.in_view ? store_.layout.view(item.of->root()) / item.path : store_.layout.object(item.digest);
    const std::uint64_t chunks = chunk_count(item.digest.size_bytes);
    reading->hashes.resize(chunks);
    reading->tasks_left = std::max<std::uint64_t>(1, (chunks + chunks_per_task - 1) / chunks_per_task);
    current_ = {std::move(reading), 0, 0};
  }
  current_.first = current_.end;
  current_.end = std::min(current_.end + chunks_per_task, current_.reading->hashes.size());
  Task task = current_;
  if (current_.end == current_.reading->hashes.size()) current_ = {};
  return task;
}

void Scrub::run(unsigned threads) {
  if (threads == 0) threads = std::thread::hardware_concurrency();
  {
    std::vector<std::jthread> helpers;
    for (unsigned i = 1; i < std::min(threads, threads_max); ++i) helpers.emplace_back([this] { work(); });
    work();
  }
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
        std::call_once(reading.opened, [&] {
          reading.fd = open_file(reading.file, O_RDONLY | O_NONBLOCK);
          if (::fstat(reading.fd.get(), &reading.before) != 0) throw_errno("stat", reading.file, errno);
        });
        read(reading, task->first, task->end, buffer);
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

void Scrub::read(Reading& reading, std::uint64_t first, std::uint64_t end, std::vector<std::byte>& buffer) {
  for (std::uint64_t i = first; i < end; ++i) {
    const auto chunk = std::span(buffer).first(chunk_length(reading.item.digest.size_bytes, i));
    const std::size_t n = read_at(reading.fd.get(), chunk, i * chunk_size_bytes, reading.file);
    if (n == chunk.size()) reading.hashes[i] = hash_chunk(chunk);
    const std::lock_guard lock(mutex_);
    report_.bytes_read += n;
    if (on_bytes_ && n > 0) on_bytes_(n);
  }
}

void Scrub::judge(Reading& reading) {
  const Digest& digest = reading.item.digest;
  struct stat after {};
  if (reading.fd && ::fstat(reading.fd.get(), &after) != 0) reading.trouble = "stat failed";
  {
    const std::lock_guard lock(mutex_);
    ++report_.files;
  }
  const bool still = reading.fd && Fact::of(digest, reading.before) == Fact::of(digest, after);
  const bool right = reading.fd && reading.trouble.empty() &&
                     digest_of_chunks(digest.size_bytes, reading.hashes) == digest &&
                     static_cast<std::uint64_t>(after.st_size) == digest.size_bytes;
  if (right && still) store_.evidence.add(digest, after);
  if (right) return;  // another process's link or unlink is no change of the bytes
  const std::string& path = reading.item.path;
  if (!reading.fd) return blame(digest, path, 0, reading.trouble);
  if (reading.trouble.empty() && !still) return blame(digest, path, 0, "it changed while it was read: verify again");
  store_.evidence.distrust(digest);
  const std::string aside = put_aside(reading);
  if (!reading.trouble.empty()) return blame(digest, path, 0, reading.trouble + aside);
  if (static_cast<std::uint64_t>(after.st_size) != digest.size_bytes) {
    return blame(digest, path, 0, fmt::format("it is {} bytes long{}", after.st_size, aside));
  }
  name_bad_chunks(reading, aside);
}

void Scrub::name_bad_chunks(const Reading& reading, const std::string& aside) {
  const Item item =
      reading.item.of != nullptr ? reading.item : try_recognise(reading.item.digest).value_or(reading.item);
  std::vector<Sha256> layer;
  if (chunk_count(item.digest.size_bytes) == 1) layer = {item.digest.hash};
  if (layer.empty() && item.of != nullptr) {
    const auto entry = item.of->find(RelativePath::parse(item.path));
    if (entry) layer = item.of->chunks(*entry);
  }
  const std::string whose = item.in_view ? "the view's copy does" : "the bytes do";
  if (layer.size() != reading.hashes.size()) {
    return blame(item.digest, item.path, 0, fmt::format("{} not make its digest{}", whose, aside));
  }
  for (std::uint64_t i = 0; i < layer.size(); ++i) {
    if (layer[i] == reading.hashes[i]) continue;
    blame(item.digest, item.path, i, fmt::format("{} not match the chunk's hash{}", whose, aside));
  }
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
  std::error_code error;
  using Walk = std::filesystem::recursive_directory_iterator;  // does not follow symlinks
  for (Walk it(store_.layout.views(), error), end; !error && it != end; it.increment(error)) {
    const auto s = try_lstat(it->path());
    if (!s || !S_ISREG(s->st_mode) || !bad_inodes_.contains(s->st_ino)) continue;
    if (::unlink(it->path().c_str()) == 0) {
      blame({}, it->path().lexically_relative(store_.layout.root()), 0, "it was a link to a bad object: removed");
    }
  }
}

void Scrub::blame(const Digest& file, const std::string& path, std::uint64_t chunk, std::string what) {
  const std::lock_guard lock(mutex_);
  report_.bad.push_back({file, path, chunk, chunk * chunk_size_bytes, std::move(what)});
}

}  // namespace sabath
