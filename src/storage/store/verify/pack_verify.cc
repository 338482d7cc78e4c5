#include "store/verify/pack_verify.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/threads.h"
#include "sabath/error.h"
#include "store/disk/listing.h"
#include "store/leases/lease_file.h"

namespace sabath {
namespace {

constexpr unsigned verify_threads_max = 256;

}  // namespace

void PackVerify::add_all() {
  for (const auto& file : list_directory(store_.layout.packs())) {
    const auto there = try_lstat(file);
    const bool regular = there && S_ISREG(there->st_mode);
    const auto name = regular ? try_parse_pack_name(file.filename().native()) : std::nullopt;
    if (!name) {
      if (there && options_.part == 0) scrub_.note_stray(file);
      continue;
    }
    if (!options_.is_ours(*name)) continue;
    Task& task = tasks_[*name];
    task.pack = std::make_shared<const Pack>(Pack{*name, file, {}});
    task.all = true;
  }
}

bool PackVerify::add(const Digest& content, const std::string& path) {
  const auto place = store_.packs.find(content);
  if (!place) return false;
  if (!options_.is_ours(place->pack->name)) return true;
  Task& task = tasks_[place->pack->name];
  task.pack = place->pack;
  task.wanted.emplace_back(content, path);
  return true;
}

void PackVerify::run(const std::vector<Manifest>& manifests) {
  store_.checked.refresh();
  next_ = tasks_.begin();
  const unsigned threads = options_.threads == 0 ? std::thread::hardware_concurrency() : options_.threads;
  {
    std::vector<std::jthread> helpers;
    const auto helpers_max = std::min<std::size_t>({threads, verify_threads_max, tasks_.size()});
    const auto help = [this] { work(); };
    for (std::size_t i = 1; i < helpers_max && try_add_thread(helpers, help); ++i) {}
    work();
  }
  store_.checked.flush();
  store_.evidence.flush();
  if (failure_) std::rethrow_exception(failure_);
  if (lost_.empty()) return;
  std::map<Digest, std::string> paths;
  for (const auto& [digest, path] : lost_) paths[digest] = path;
  for (const auto& manifest : manifests) {
    manifest.for_each([&](const Entry& entry) {
      const auto found = entry.is_file() ? paths.find(entry.digest) : paths.end();
      if (found != paths.end() && found->second.empty()) found->second = entry.path.text();
    });
  }
  for (const auto& [digest, path] : paths) scrub_.blame(digest, path, 0, "its pack does not hold it");
}

void PackVerify::work() {
  try {
    for (;;) {
      const Task* task = nullptr;
      {
        const std::lock_guard lock(mutex_);
        if (failure_ || next_ == tasks_.end()) return;
        task = &(next_++)->second;
      }
      read(*task);
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void PackVerify::read(const Task& task) {
  const Pack& pack = *task.pack;
  const auto fd = try_open_file(pack.file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  struct stat before {};
  if (!fd) return;  // collected meanwhile
  if (::fstat(fd->get(), &before) != 0) throw_errno("stat", pack.file, errno);
  const auto last = store_.checked.find(pack.name, before);
  if (options_.within && last && scrub_.now_ns() - last->time_ns < std::chrono::nanoseconds(*options_.within).count() &&
      store_.evidence.matches(pack.name, before)) {
    const std::lock_guard lock(mutex_);
    report_.remembered += task.all ? store_.packs.members_of(pack).size() : task.wanted.size();
    return;
  }
  PackScanOptions how;
  how.quick = options_.quick;
  how.on_bytes = [&](std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    report_.bytes_read += bytes;
    if (options_.on_bytes) options_.on_bytes(bytes);
  };
  try {
    judge(task, scan_pack(fd->get(), pack.file, pack.name, how), before);
  } catch (const Error& error) {  // it cannot be read: the pack is to blame
    scrub_.blame({}, pack.file.lexically_relative(store_.layout.root()), 0, error.what());
  }
}

void PackVerify::judge(const Task& task, const PackScan& scan, const struct stat& before) {
  const Pack& pack = *task.pack;
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t files = task.all ? scan.members : task.wanted.size();
    report_.files += files;
    if (options_.quick) report_.quick += files;
  }
  if (scan.whole && scan.bad.empty()) {
    if (static_cast<std::uint64_t>(before.st_size) == pack.name.size_bytes) return remember(pack, before);
  }
  const auto lost = store_.packs.mend(pack);
  if (!scan.whole || scan.bad.empty()) {
    scrub_.blame({}, pack.file.lexically_relative(store_.layout.root()), 0,
                 "it is no whole pack: what of it is right is in another now");
  }
  const std::lock_guard lock(mutex_);
  for (const PackMember& member : lost) {
    if (scan.whole) lost_.emplace_back(member.digest, "");  // of a damaged index the digest may be the wrong part
  }
  for (const auto& [digest, path] : task.wanted) {
    if (!store_.packs.find(digest)) lost_.emplace_back(digest, path);
  }
}

void PackVerify::remember(const Pack& pack, const struct stat& before) {
  const auto after = try_lstat(pack.file);
  if (!after || Fact::of(pack.name, before) != Fact::of(pack.name, *after)) return;
  store_.evidence.add(pack.name, *after);
  store_.checked.add({pack.name, after->st_ino, nanoseconds(after->st_mtim), 0, scrub_.now_ns()});
}

}  // namespace sabath
