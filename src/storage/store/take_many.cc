#include "store/take_many.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "base/file.h"
#include "base/threads.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/pack_stream.h"
#include "store/state.h"
#include "store/take.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t taking_threads_max = 8;

[[noreturn]] void refuse_changed(const fs::path& file) {
  throw Error(FailureKind::changed, fmt::format("{} changed while it was read", printable(file.native())),
              "let its writer finish, then try again");
}

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_ino == b.st_ino && a.st_dev == b.st_dev && a.st_size == b.st_size && a.st_nlink == b.st_nlink &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

// The first failure ends all.
class ManyTaken {
 public:
  ManyTaken(Store& store, const fs::path& top, const std::vector<std::string>& files,
            const std::function<void(std::uint64_t)>& on_bytes, const std::stop_token& stop)
      : store_(store),
        top_(top),
        files_(files),
        on_bytes_(on_bytes),
        stop_(stop),
        packs_(store),
        taken_(files.size()),
        seen_(files.size()) {}

  std::vector<TakenFile> run(SyncGroup& group) {
    {
      std::vector<std::jthread> threads;
      const auto work = [&] { hash_all(group.whole()); };
      for (std::size_t i = 1; i < taking_threads_max && i < files_.size() && try_add_thread(threads, work); ++i) {}
      hash_all(group.whole());
    }
    if (thrown_) std::rethrow_exception(thrown_);
    packs_.publish_all();
    place_all(group);
    return std::move(taken_);
  }

 private:
  void hash_all(bool as_group) noexcept {
    for (std::size_t i = 0; (i = next_++) < files_.size();) try {
        if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "packing was stopped");
        static_cast<void>(RelativePath::parse(files_[i]));  // before its bytes are in the store
        const auto status = try_lstat(top_ / files_[i]);
        taken_[i].executable = status && (status->st_mode & S_IXUSR) != 0;
        if (store_.packs(files_.size()) && status && status->st_size <= std::int64_t(store_.pack_threshold()))
          pack(i);
        else if (as_group)
          hash(i);
        else
          taken_[i].tree = take_file(store_, top_ / files_[i]);
        const std::lock_guard lock(mutex_);
        if (on_bytes_) on_bytes_(taken_[i].tree.digest.size_bytes);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!thrown_) thrown_ = std::current_exception();
        next_ = files_.size();
      }
  }

  // A small one of many.
  void pack(std::size_t i) {
    const fs::path file = top_ / files_[i];
    const auto content = try_read_text(file, store_.pack_threshold());
    if (!content) refuse_changed(file);
    const std::span bytes = std::as_bytes(std::span(*content));
    taken_[i].tree = hash_content(bytes);
    if (packs_.add(taken_[i].tree.digest, bytes)) packs_.publish_full();
    ::unlink(file.c_str());
  }

  void hash(std::size_t i) {
    const fs::path file = top_ / files_[i];
    const Fd fd = open_file(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    struct stat before {
    }, after{};
    if (::fstat(fd.get(), &before) != 0) throw_errno("stat", file, errno);
    // A second name would let its holder write to the object.
    if (!S_ISREG(before.st_mode) || before.st_nlink != 1 || before.st_uid != ::geteuid())
      throw Error(FailureKind::invalid,
                  fmt::format("{} is no regular file of its own", printable(file.filename().native())),
                  "outputs are plain files: no links, pipes or devices");
    store_.state().layout.members().seal(fd.get(), file);
    FileTree tree = hash_file(fd.get(), static_cast<std::uint64_t>(before.st_size), file);
    if (::fstat(fd.get(), &after) != 0) throw_errno("stat", file, errno);
    if (!is_same(before, after)) refuse_changed(file);
    if (store_.present(tree.digest))
      ::unlink(file.c_str());
    else
      seen_[i] = after;
    taken_[i].tree = std::move(tree);
  }

  void place_all(SyncGroup& group) {
    std::vector<std::size_t> fresh;
    for (std::size_t i = 0; i < files_.size(); ++i)
      if (seen_[i]) fresh.push_back(i);
    if (fresh.empty()) return;
    Store::State& state = store_.state();
    group.sync();
    Objects::Directories touched;
    for (const std::size_t i : fresh) place(state, i, touched);
    if (touched.size() > SyncGroup::open_files_max)
      group.sync();
    else
      for (const auto& directory : touched) sync_directory(directory);
    state.evidence.flush();
  }

  void place(Store::State& state, std::size_t i, Objects::Directories& touched) {
    const fs::path file = top_ / files_[i];
    const Digest& digest = taken_[i].tree.digest;
    state.landing.add(digest.size_bytes, 1);
    static_cast<void>(state.objects.place(digest, touched, [&](const fs::path& to) {
      const auto now = try_lstat(file);
      if (!now || !is_same(*seen_[i], *now)) refuse_changed(file);
      if (!rename_unless_there(file, to)) return Move::occupied;
      state.objects.attest(digest, to);
      return Move::done;
    }));
    ::unlink(file.c_str());  // content that was there already leaves it
  }

  Store& store_;
  const fs::path& top_;
  const std::vector<std::string>& files_;
  const std::function<void(std::uint64_t)>& on_bytes_;
  const std::stop_token& stop_;
  PackStream packs_;
  std::vector<TakenFile> taken_;
  std::vector<std::optional<struct stat>> seen_;  // of those that are not in the store yet
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;  // of what follows, and of `on_bytes_`
  std::exception_ptr thrown_;
};

}  // namespace

TakesMany::TakesMany(Store& store) : store_(store), group_(std::make_shared<SyncGroup>(store.state().layout.root())) {}

std::vector<TakenFile> TakesMany::take(const fs::path& top, const std::vector<std::string>& files,
                                       const std::function<void(std::uint64_t)>& on_bytes,
                                       const std::stop_token& stop) {
  return ManyTaken(store_, top, files, on_bytes, stop).run(*group_);
}

}  // namespace sabath
