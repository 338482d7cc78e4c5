// One thread walks the directory by descriptors, never by paths, so that nothing swapped in meanwhile leads outside;
// workers hash small files whole and large ones by chunk. The queue between them is bounded; the first failure ends
// all.
#include "manifest/directory_tree.h"
#include "base/threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <mutex>
#include <thread>

#include "base/file.h"
#include "manifest/file_node.h"
#include "manifest/file_tree.h"
#include "manifest/hash_queue.h"
#include "manifest/tree_node.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr unsigned threads_max = 256;

bool same_version(const struct stat& a, const struct stat& b) {
  const auto same_time = [](const timespec& s, const timespec& t) {
    return s.tv_sec == t.tv_sec && s.tv_nsec == t.tv_nsec;
  };
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size && same_time(a.st_mtim, b.st_mtim) &&
         same_time(a.st_ctim, b.st_ctim);
}

std::uint64_t size_bytes(const HashJob& job) { return static_cast<std::uint64_t>(job.status.st_size); }

class Scan {
 public:
  Scan(ManifestBuilder& builder, std::filesystem::path top, const std::function<void(std::uint64_t)>& on_bytes,
       const OnHashed& on_hashed)
      : builder_(builder), top_(std::move(top)), on_bytes_(on_bytes), on_hashed_(on_hashed) {}

  void run(unsigned threads) {
    {
      std::vector<std::jthread> workers;
      guard([&] {
        const auto work_guarded = [this] { guard([this] { work(); }); };
        for (unsigned i = 0; i < threads && try_add_thread(workers, work_guarded); ++i) {}
        if (workers.empty()) throw Error(few_threads());
        walk(std::make_shared<Fd>(open_file(top_, O_RDONLY | O_DIRECTORY)), nullptr);
      });
      queue_.end();
    }
    queue_.rethrow_failure();
  }

 private:
  struct Name {
    std::string name;
    unsigned char type;  // DT_*
  };

  template <typename F>
  void guard(F&& f) {
    try {
      f();
    } catch (...) {
      queue_.fail(std::current_exception());
    }
  }

  [[nodiscard]] std::filesystem::path name(const RelativePath& path) const { return top_ / path.text(); }

  bool walk(const std::shared_ptr<const Fd>& directory, const RelativePath* above) {
    for (const Name& found : names(*directory, above)) {
      const RelativePath own = RelativePath::parse(found.name);
      if (!add(directory, above ? *above / own : own, found)) return false;
    }
    return true;
  }

  bool add(const std::shared_ptr<const Fd>& directory, const RelativePath& path, const Name& found) {
    unsigned char type = found.type;
    if (type == DT_UNKNOWN) {  // some filesystems do not say
      struct stat status {};
      if (::fstatat(directory->get(), found.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        throw_errno("stat", name(path), errno);
      }
      type = static_cast<unsigned char>(IFTODT(status.st_mode));
    }
    if (type == DT_REG) return queue_.put(std::make_shared<HashJob>(path, directory));
    if (type == DT_LNK) return add_symlink(*directory, path, found.name);
    if (type != DT_DIR) refuse_kind(path);
    {
      const std::lock_guard lock(mutex_);
      builder_.add_directory(path);
    }
    return walk(std::make_shared<Fd>(open_at(*directory, found.name, O_DIRECTORY, path)), &path);
  }

  bool add_symlink(const Fd& directory, const RelativePath& path, const std::string& own) {
    std::array<char, target_size_max + 1> target{};  // one more: a longer one is seen, and refused
    const ssize_t length = ::readlinkat(directory.get(), own.c_str(), target.data(), target.size());
    if (length < 0) throw_errno("read the symlink", name(path), errno);
    const std::lock_guard lock(mutex_);
    builder_.add_symlink(path, std::string(target.data(), static_cast<std::size_t>(length)));
    return true;
  }

  void work() {
    std::vector<std::byte> buffer;
    while (const std::optional<HashTask> task = queue_.take()) {
      HashJob& job = *task->job;
      const std::uint64_t index = task->chunk.value_or(0);
      if (!task->chunk) {
        open(job);
        const bool large = job.chunks.size() > 1;
        queue_.opened(task->job, large);
        if (large) continue;
      }
      if (!job.chunks.empty()) hash(job, index, buffer);
      if (job.chunks.empty() || --job.chunks_left == 0) finish(job);
    }
  }

  void open(HashJob& job) const {
    // O_NONBLOCK: a FIFO that took the file's place since the walk must not hold us.
    job.fd = open_at(*job.directory, std::string(job.path.name()), O_NONBLOCK | O_NOCTTY, job.path);
    job.directory.reset();
    if (::fstat(job.fd.get(), &job.status) != 0) throw_errno("stat", name(job.path), errno);
    if (!S_ISREG(job.status.st_mode)) refuse_kind(job.path);
    if (size_bytes(job) > file_size_max) {
      throw Error(FailureKind::invalid, fmt::format("{} is {} bytes long", name(job.path).string(), size_bytes(job)),
                  fmt::format("a file of an asset has at most {} bytes: split it", file_size_max));
    }
    job.chunks.resize(chunk_count(size_bytes(job)));
    job.chunks_left = job.chunks.size();
  }

  void hash(HashJob& job, std::uint64_t index, std::vector<std::byte>& buffer) {
    const std::uint64_t length = chunk_length(size_bytes(job), index);
    if (buffer.size() < length) buffer.resize(length);
    const auto bytes = std::span(buffer).first(length);
    if (read_at(job.fd.get(), bytes, index * chunk_size_bytes, name(job.path)) != length) refuse_change(job);
    job.chunks[index] = hash_chunk(bytes);
    if (!on_bytes_) return;
    const std::lock_guard lock(mutex_);
    on_bytes_(length);
  }

  void finish(HashJob& job) {
    struct stat status {};
    if (::fstat(job.fd.get(), &status) != 0) throw_errno("stat", name(job.path), errno);
    if (!same_version(status, job.status)) refuse_change(job);
    job.fd.reset();
    const Digest digest = digest_of_chunks(size_bytes(job), job.chunks);
    const std::lock_guard lock(mutex_);
    builder_.add_file(job.path, digest, std::move(job.chunks), (status.st_mode & S_IXUSR) != 0);
    if (on_hashed_) on_hashed_(job.path, digest, status);
  }

  [[noreturn]] void refuse_kind(const RelativePath& path) const {
    throw Error(FailureKind::invalid, fmt::format("{} is a device, a FIFO or a socket", name(path).string()),
                "an asset holds files, directories and symlinks: move it elsewhere");
  }

  [[noreturn]] void refuse_change(const HashJob& job) const {
    throw Error(FailureKind::changed, fmt::format("{} changed while it was read", name(job.path).string()),
                "let its writer finish, then try again");
  }

  [[nodiscard]] Fd open_at(const Fd& directory, const std::string& own, int flags, const RelativePath& path) const {
    Fd fd(::openat(directory.get(), own.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags));
    if (!fd) throw_errno("open", name(path), errno);
    return fd;
  }

  // All names at once: the stream is closed before the walk goes deeper.
  [[nodiscard]] std::vector<Name> names(const Fd& directory, const RelativePath* above) const {
    const std::filesystem::path shown = above ? name(*above) : top_;
    Fd own(::openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!own) throw_errno("open", shown, errno);
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own.get()), ::closedir);
    if (!stream) throw_errno("read the directory", shown, errno);
    own.release();
    std::vector<Name> names;
    for (;;) {
      errno = 0;
      const dirent* const entry = ::readdir(stream.get());
      if (!entry && errno != 0) throw_errno("read the directory", shown, errno);
      if (!entry) break;
      const std::string_view found = entry->d_name;
      if (found == "." || found == "..") continue;
      if (names.size() >= entries_max)
        throw Error(FailureKind::invalid, shown.string() + " has too many entries", "split it");
      names.push_back({std::string(found), entry->d_type});
    }
    return names;
  }

  ManifestBuilder& builder_;
  const std::filesystem::path top_;
  const std::function<void(std::uint64_t)>& on_bytes_;
  const OnHashed& on_hashed_;
  std::mutex mutex_;  // of builder_ and of the callbacks
  HashQueue queue_;
};

}  // namespace

void add_directory_tree(ManifestBuilder& builder, const std::filesystem::path& directory, unsigned threads,
                        const std::function<void(std::uint64_t)>& on_bytes) {
  add_directory_tree(builder, directory, threads, on_bytes, {});
}

void add_directory_tree(ManifestBuilder& builder, const std::filesystem::path& directory, unsigned threads,
                        const std::function<void(std::uint64_t)>& on_bytes, const OnHashed& on_hashed) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  Scan(builder, directory, on_bytes, on_hashed).run(std::min(threads, threads_max));
}

}  // namespace sabath
