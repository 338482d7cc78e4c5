#include "fetch/swarm.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

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

// Content that several jobs name is fetched once: by the first of them, and if that fails by the next. Each entry is
// the first job with the same content, maybe the job itself; nullopt if no two jobs name the same.
std::optional<std::vector<std::size_t>> first_of_each(const std::vector<FileJob>& jobs) {
  std::unordered_map<Digest, std::size_t> seen;
  std::vector<std::size_t> first(jobs.size());
  bool twice = false;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    first[i] = jobs[i].known ? seen.try_emplace(jobs[i].known->digest, i).first->second : i;
    twice = twice || first[i] != i;
  }
  return twice ? std::optional(std::move(first)) : std::nullopt;
}

// The outcomes of all jobs from those of the first of each content.
std::vector<FileOutcome> share(FetchContext& context, const std::vector<FileJob>& jobs,
                               const std::vector<std::size_t>& first, std::vector<FileOutcome> fetched) {
  std::vector<FileOutcome> outcomes(jobs.size());
  std::vector<FileJob> again;
  std::vector<std::size_t> owners;
  std::size_t next = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (first[i] == i) {
      outcomes[i] = std::move(fetched[next++]);
    } else if (!outcomes[first[i]].failure) {
      outcomes[i] = outcomes[first[i]];
      context.events.on(event::BytesReused{jobs[i].known->digest.size_bytes});
      context.events.on(event::FileDone{jobs[i].name, jobs[i].known->digest.size_bytes});
    } else {
      again.push_back(jobs[i]);
      owners.push_back(i);
    }
  }
  if (again.empty()) return outcomes;
  auto late = fetch_all(context, again);  // fewer each time: the first of each content is done with
  for (std::size_t i = 0; i < owners.size(); ++i) outcomes[owners[i]] = std::move(late[i]);
  return outcomes;
}

}  // namespace

std::vector<FileOutcome> fetch_all(FetchContext& context, const std::vector<FileJob>& jobs) {
  if (context.stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
  FetchContext own = context;
  std::vector<FileOutcome> outcomes;
  if (const auto first = first_of_each(jobs)) {
    std::vector<FileJob> once;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if ((*first)[i] == i) once.push_back(jobs[i]);
    }
    outcomes = share(context, jobs, *first, Swarm(own, once).run(context.stop));
  } else {
    outcomes = Swarm(own, jobs).run(context.stop);
  }
  if (context.stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
  return outcomes;
}

}  // namespace sabath
