// Objects of Git LFS by their content's SHA-256: where an object is, its server says each time anew.
#include <map>
#include <mutex>
#include <string>

#include "http/document.h"
#include "http/read.h"
#include "lfs/batch.h"
#include "sabath/error.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

class LfsFetcher : public Fetcher {
 public:
  explicit LfsFetcher(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

  std::vector<Scheme> schemes() const override {
    return {{.name = "lfs+https", .built = true, .ranges = true}, {.name = "lfs+http", .built = true, .ranges = true}};
  }

  void read(const ReadRequest& request, Sink& sink, Traffic& traffic, std::stop_token stop) override {
    const lfs::Action action = named(request.url, [&] { return action_for(request.url, traffic, stop); });
    try {
      // What an earlier asker was told is asked for by this one.
      const WebPlace place{.url = action.href.named_by(request.url.namer()), .private_headers = action.headers};
      read_web(*transport_, place, request, sink, traffic, stop);
    } catch (const Error&) {
      forget(request.url);  // the place may have expired
      throw;
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Known {
    lfs::Action action;
    Clock::time_point until;
  };

  lfs::Action action_for(const Url& url, Traffic& traffic, const std::stop_token& stop) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = known_.find(url.text());
      if (found != known_.end() && Clock::now() < found->second.until) return found->second.action;
    }
    const lfs::Object object = lfs::parse_object(url);
    const Question question{
        .url = object.batch_url(),
        .headers = {"Accept: application/vnd.git-lfs+json", "Content-Type: application/vnd.git-lfs+json"},
        .body = object.question(),
        .size_max = 1UL << 20,
        .accept = {200}};
    const Document answer = ask(*transport_, question, traffic, stop);
    lfs::Action action = lfs::parse_batch(answer.body, object);
    action.href = answer.names(action.href);
    const std::lock_guard lock(mutex_);
    if (known_.size() > known_max) known_.clear();
    known_.insert_or_assign(url.text(), Known{action, Clock::now() + action.lifetime});
    return action;
  }

  void forget(const Url& url) {
    const std::lock_guard lock(mutex_);
    known_.erase(url.text());
  }

  static constexpr std::size_t known_max = 100'000;
  const std::shared_ptr<Transport> transport_;
  std::mutex mutex_;
  std::map<std::string, Known> known_;
};

}  // namespace

void add_lfs(KnownFetchers& set, const FetcherParts& parts) { set.add(std::make_unique<LfsFetcher>(parts.transport)); }

}  // namespace sabath
