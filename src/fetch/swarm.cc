#include "fetch/swarm.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "fetch/in_order.h"
#include "fetch/known_transfer.h"
#include "fetch/publisher.h"

namespace sabath {
namespace {

bool by_chunks(const FileJob& job) { return job.known && job.known->digest.size_bytes > chunk_size_bytes; }

class Swarm {
 public:
  Swarm(FetchContext& context, const std::vector<FileJob>& jobs)
      : context_(context), jobs_(jobs), publisher_(context.store), outcomes_(jobs.size()) {
    // One lane's fatal error ends the others, and so does the caller's stop.
    context_.stop = own_stop_.get_token();
  }

  std::vector<FileOutcome> run(std::stop_token caller) {
    const std::stop_callback forward(caller, [this] { own_stop_.request_stop(); });
    {
      std::vector<std::jthread> lanes;
      const unsigned count = std::max(1U, context_.lanes);
      for (unsigned id = 0; id < count; ++id) lanes.emplace_back([this, id] { run_lane(id); });
    }
    try {
      publisher_.flush();  // what is whole is kept, whatever happened
    } catch (...) {
      if (!fatal_) throw;
    }
    if (fatal_) std::rethrow_exception(fatal_);
    return std::move(outcomes_);
  }

 private:
  void run_lane(unsigned id) {
    try {
      Lane lane{id, {}};
      lane.buffer.reserve(chunk_size_bytes);
      while (!context_.stop.stop_requested() && step(lane)) {}
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!fatal_) fatal_ = std::current_exception();
      own_stop_.request_stop();
      changed_.notify_all();
    }
  }

  // False when nothing is left to do.
  bool step(Lane& lane) {
    if (help_open_transfer(lane)) return true;
    std::size_t index = 0;
    KnownTransfer* opened = nullptr;
    {
      std::unique_lock lock(mutex_);
      if (next_ == jobs_.size()) {
        if (open_.empty()) return false;
        changed_.wait_for(lock, std::chrono::milliseconds(100));
        return true;
      }
      index = next_++;
      if (by_chunks(jobs_[index])) {
        opened = open_.emplace_back(index, std::make_shared<KnownTransfer>(context_, jobs_[index])).second.get();
      }
    }
    if (opened == nullptr) {
      outcomes_[index] = InOrder(context_, publisher_, lane, jobs_[index]).run();
    }
    return true;
  }

  // Works on the first transfer that has something to take; removes those that are over.
  bool help_open_transfer(Lane& lane) {
    std::vector<std::shared_ptr<KnownTransfer>> open;
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(open_, [&](auto& entry) {
        if (!entry.second->over()) return false;
        outcomes_[entry.first] = std::move(entry.second->outcome());
        return true;
      });
      for (const auto& entry : open_) open.push_back(entry.second);
    }
    for (const auto& transfer : open) {
      if (transfer->work(lane)) {
        changed_.notify_all();
        return true;
      }
    }
    return false;
  }

  FetchContext& context_;
  const std::vector<FileJob>& jobs_;
  Publisher publisher_;
  std::stop_source own_stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
  std::deque<std::pair<std::size_t, std::shared_ptr<KnownTransfer>>> open_;
  std::vector<FileOutcome> outcomes_;
  std::exception_ptr fatal_;
};

}  // namespace

std::vector<FileOutcome> fetch_all(FetchContext& context, const std::vector<FileJob>& jobs) {
  FetchContext own = context;
  if (context.stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
  auto outcomes = Swarm(own, jobs).run(context.stop);
  if (context.stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
  return outcomes;
}

}  // namespace sabath
