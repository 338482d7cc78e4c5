#include "packing/stored_environment.h"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/threads.h"
#include "manifest/manifest.h"
#include "packing/tree_copy.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/pack_stream.h"
#include "store/take.h"

namespace sabath {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t threads_max = 8;  // most of the time each waits for the disk

// Files become objects side by side, and small ones of many go into packs: nodes then read few files. The first failure
// ends all.
struct Taking {
  Store& store;
  PackStream packs;
  const fs::path& tree;
  const std::vector<std::string>& files;
  std::vector<FileTree>& contents;
  std::vector<char>& executable;
  EventSink& events;
  const std::stop_token& stop;
  std::atomic<std::size_t> next{0};
  std::mutex mutex;  // of what follows, and of `events`
  std::exception_ptr thrown;

  void run() {
    {
      std::vector<std::jthread> threads;
      const auto work = [this] { take_all(); };
      for (std::size_t i = 1; i < threads_max && i < files.size() && try_add_thread(threads, work); ++i) {}
      take_all();
    }
    if (thrown) std::rethrow_exception(thrown);
    packs.publish_all();
  }

  void take_all() noexcept {
    for (std::size_t i = 0; (i = next++) < files.size();) try {
        take(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!thrown) thrown = std::current_exception();
        next = files.size();
      }
  }

  void take(std::size_t i) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "packing was stopped");
    static_cast<void>(RelativePath::parse(files[i]));  // before its bytes are in the store
    const auto status = try_lstat(tree / files[i]);
    executable[i] = status && (status->st_mode & S_IXUSR) != 0;
    const bool is_small =
        store.packs(files.size()) && status && status->st_size <= std::int64_t(store.pack_threshold());
    contents[i] = is_small ? pack(tree / files[i]) : take_file(store, tree / files[i]);
    const std::lock_guard lock(mutex);
    events.on(event::BytesReceived{0, contents[i].digest.size_bytes});
  }

  FileTree pack(const fs::path& file) {
    const auto content = try_read_text(file, store.pack_threshold());
    if (!content) throw Error(FailureKind::storage, fmt::format("{} was changed while it was packed", file.native()));
    const std::span bytes = std::as_bytes(std::span(*content));
    FileTree hashed = hash_content(bytes);
    if (packs.add(hashed.digest, bytes)) packs.publish_full();
    return hashed;
  }
};

}  // namespace

PackingPlace::PackingPlace(Store& store) : directory_(fs::canonical(store.make_temporary_directory())) {
  fs::create_directory(tree());
}

PackingPlace::~PackingPlace() { remove_tree(directory_); }

StoredEnvironment store_environment(Store& store, const fs::path& tree, EventSink& events,
                                    const std::stop_token& stop) {
  StoredEnvironment stored;
  ManifestBuilder builder;
  std::error_code error;
  for (fs::recursive_directory_iterator at(tree, error), end; !error && at != end; at.increment(error)) {
    const auto path = RelativePath::parse(at->path().native().substr(tree.native().size() + 1));
    if (at->is_symlink())
      builder.add_symlink(path, fs::read_symlink(at->path()).native());
    else if (at->is_directory())
      builder.add_directory(path);
  }
  if (error) throw_errno("list", tree, error.value());
  std::vector<std::string> files;
  for_each_packed_file(tree, [&](const std::string& path) { files.push_back(path); });
  std::vector<FileTree> contents(files.size());
  std::vector<char> executable(files.size());
  Taking taking{store, PackStream(store), tree, files, contents, executable, events, stop, 0, {}, {}};
  taking.run();
  for (std::size_t i = 0; i < files.size(); ++i) {
    stored.bytes += contents[i].digest.size_bytes;
    ++stored.files;
    builder.add_file(RelativePath::parse(files[i]), contents[i].digest, std::move(contents[i].chunks),
                     executable[i] != 0);
  }
  stored.root = store.put_manifest(builder);
  return stored;
}

}  // namespace sabath
