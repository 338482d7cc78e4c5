// A store in a temporary directory, an origin in memory, and what a fetch needs besides: the bench of these tests.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "fetch/decide/job.h"
#include "fetch/hosts/context.h"
#include "fetch/hosts/hosts.h"
#include "fetch/hosts/ledger.h"
#include "fetch/hosts/rate_limit.h"
#include "fetch/hosts/space_guard.h"
#include "fetch/transfer/swarm.h"
#include "memory_origin.h"
#include "sabath/verbs/fetch.h"
#include "store/store.h"
#include "support/seeded.h"
#include "support/temp_dir.h"

namespace sabath::test {

class EventLog : public EventSink {
 public:
  void on(const Event& event) override;
  [[nodiscard]] std::uint64_t received() const;
  [[nodiscard]] std::uint64_t reused() const;
  [[nodiscard]] std::uint64_t files_done() const;
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  mutable std::mutex mutex_;
  std::uint64_t received_ = 0, reused_ = 0, files_done_ = 0;
  std::vector<std::string> warnings_;
};

class FetchBench {
 public:
  explicit FetchBench(std::uint64_t bytes_free = 1ULL << 40);

  // The context of one fetch; its ledger and events are those of the last begin().
  [[nodiscard]] FetchContext context();
  void begin();   // new books, the same store
  void reopen();  // the store as it is found after this process has died
  [[nodiscard]] std::vector<FileOutcome> fetch(const std::vector<FileJob>& jobs) {
    FetchContext now = context();
    return fetch_all(now, jobs);
  }
  [[nodiscard]] FileOutcome fetch(const FileJob& job) { return fetch(std::vector{job}).front(); }

  [[nodiscard]] SourceRecord record(const std::string& url) const;
  [[nodiscard]] std::string content(const Digest& digest) const;  // of the published object
  [[nodiscard]] std::string content(const FileOutcome& outcome) const { return content(outcome.tree.digest); }
  [[nodiscard]] bool partials_left() const;

  TempDir directory;
  std::unique_ptr<Store> store;
  MemoryOrigin origin;
  std::unique_ptr<EventLog> events;
  std::unique_ptr<Ledger> ledger;
  SpaceGuard space;
  RateLimiter limiter{0};
  std::unique_ptr<Hosts> hosts;
  RewriteRules rewrites;
  unsigned lanes = 4;
  bool force = false;
  std::stop_source stop;
};

// Changes one byte of a published object so that neither size nor times show it. The ctime does; the store's record is
// believed where a filesystem keeps none, and --force is for just that.
void rot(const std::filesystem::path& file, std::uint64_t at);

// `moved` bytes for `size`: each once, but for those that a lane was late with and lost to another one.
void expect_moved_once(std::uint64_t moved, std::uint64_t size);

[[nodiscard]] FileTree tree_of(const std::string& bytes);
[[nodiscard]] inline std::string bytes_of(std::uint64_t size, std::uint64_t seed = 1) {
  return seeded_bytes(seed, 0, size);
}
[[nodiscard]] FileJob job_for(const std::vector<std::string>& urls);                               // nothing is known
[[nodiscard]] FileJob known_job(const std::vector<std::string>& urls, const std::string& bytes);   // pinned
[[nodiscard]] FileJob summed_job(const std::vector<std::string>& urls, const std::string& bytes);  // size and sha256

}  // namespace sabath::test
