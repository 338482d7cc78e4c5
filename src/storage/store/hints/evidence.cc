#include "store/hints/evidence.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <system_error>
#include <type_traits>

#include "base/clock.h"
#include "base/hash.h"
#include "manifest/wire.h"
#include "sabath/error.h"

namespace sabath {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto refresh_interval = std::chrono::milliseconds(50);
constexpr std::size_t facts_pending_max = 4096 * fact_record_size;
constexpr std::size_t fact_logs_max = 8;
constexpr unsigned searches_max = 4;  // a few look-ups search the logs; for more of them all facts are read

std::uint64_t size_of(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

}  // namespace

Evidence::Evidence(std::filesystem::path directory, WriterId writer, const Owners& owners, Members members)
    : owners_(owners), logs_(std::move(directory), std::move(writer), owners, std::move(members)) {}

Evidence::~Evidence() { flush(); }

Evidence::Key Evidence::key_of(const Fact& fact) {
  struct {
    std::array<std::uint8_t, Sha256::size> hash;
    std::uint64_t size, inode;
    std::int64_t mtime, ctime;
  } const all{fact.digest.hash.bytes(), fact.digest.size_bytes, fact.inode, fact.mtime_ns, fact.ctime_ns};
  static_assert(std::has_unique_object_representations_v<decltype(all)>);
  Key key{0, xxh3_64(std::as_bytes(std::span(&all, 1)))};
  std::memcpy(&key.content, all.hash.data(), sizeof key.content);
  return key;
}

bool Evidence::matches(const Digest& digest, const struct stat& file) {
  if (static_cast<std::uint64_t>(file.st_size) != digest.size_bytes) return false;
  const Fact fact = Fact::of(digest, file);
  const Key key = key_of(fact);
  const std::lock_guard lock(mutex_);
  if (distrusted_.contains(digest.hash)) return false;
  if (facts_.contains(key)) return true;
  if (!loaded_ && searched_ < searches_max) {
    ++searched_;
    const auto found = try_find(fact);
    if (found == true) facts_.insert(key);
    if (found) return *found;
  }
  // Another process may have linked the file since, and said so.
  if (loaded_ && Clock::now() - refreshed_ < refresh_interval) return false;
  refresh();
  return facts_.contains(key);
}

void Evidence::add(const Digest& digest, const struct stat& file) {
  const Fact fact = Fact::of(digest, file);
  const Key key = key_of(fact);
  const std::lock_guard lock(mutex_);
  distrusted_.erase(digest.hash);
  if (!facts_.insert(key).second) return;
  put_fact(pending_, fact, unix_time<std::chrono::seconds>());
  if (pending_.size() >= facts_pending_max) flush_locked();
}

void Evidence::distrust(const Digest& digest) {
  const std::lock_guard lock(mutex_);
  distrusted_.insert(digest.hash);
}

void Evidence::flush() {
  const std::lock_guard lock(mutex_);
  flush_locked();
}

void Evidence::tidy() {
  const std::lock_guard lock(mutex_);
  flush_locked();
  refresh();
  const auto dead = logs_.of_the_dead();
  if (dead.size() > 1) fold(dead);
}

std::optional<bool> Evidence::try_find(const Fact& wanted) {
  std::size_t logs = 0;
  bool found = false;
  logs_.read([&, own = logs_.own()](const std::filesystem::path& path) {
    if (found || path == own || ++logs > fact_logs_max) return;  // all of ours is in memory
    const auto log = try_open_trusted(owners_, path);
    found = log && has_fact(log->get(), path, wanted);
  });
  return found || logs <= fact_logs_max ? std::optional(found) : std::nullopt;
}

void Evidence::refresh() {
  logs_.read([this, own = logs_.own()](const std::filesystem::path& path) {
    const auto log = path == own ? std::nullopt : try_open_trusted(owners_, path);  // all of ours is in memory
    if (!log) return;
    std::uint64_t& offset = offsets_[path];
    offset = read_facts(log->get(), path, offset, [this](const Fact& fact) { facts_.insert(key_of(fact)); });
  });
  const auto dead = loaded_ ? std::vector<std::filesystem::path>() : logs_.of_the_dead();
  if (dead.size() > fact_logs_max) fold(dead);
  loaded_ = true;
  refreshed_ = Clock::now();
}

// Takes over dead writers' facts into our log, then removes theirs: at every moment each fact stands in a log. The
// largest log is left alone until the others outgrow it, so that a fact is copied a logarithmic number of times.
void Evidence::fold(const std::vector<std::filesystem::path>& logs) {
  const auto largest = std::ranges::max_element(logs, {}, size_of);
  std::uint64_t others = 0;
  for (auto log = logs.begin(); log != logs.end(); ++log) others += log == largest ? 0 : size_of(*log);
  const bool all = others > size_of(*largest);
  std::map<std::pair<std::uint64_t, Sha256>, Fact> newest;  // of each file: its older facts are of no use
  std::vector<std::filesystem::path> folded;
  for (auto log = logs.begin(); log != logs.end(); ++log) {
    if (log == largest && !all) continue;
    const auto open = try_open_trusted(owners_, *log);
    if (!open) continue;  // another user's: it stays
    read_facts(open->get(), *log, 0, [&](const Fact& fact) {
      Fact& kept = newest.try_emplace({fact.inode, fact.digest.hash}, fact).first->second;
      if (fact.ctime_ns > kept.ctime_ns) kept = fact;
    });
    folded.push_back(*log);
  }
  std::string records;
  for (const auto& [key, fact] : newest) put_fact(records, fact, unix_time<std::chrono::seconds>());
  if (!logs_.append(records)) return;
  for (const auto& log : folded) ::unlink(log.c_str());
}

void Evidence::flush_locked() {
  if (!pending_.empty()) logs_.append(pending_);
  pending_.clear();
}

}  // namespace sabath
