#include "store/lease.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <set>
#include <thread>

#include "base/threads.h"
#include "sabath/error.h"
#include "store/lease_file.h"
#include "store/small_file.h"
#include "store/uses.h"

namespace sabath {

class Lease::Holding {
 public:
  Holding(Store::State& store, LeaseText text, std::filesystem::path file)
      : store_(store), file_(std::move(file)), text_(std::move(text)) {
    write();
    marked_ = {text_.roots.begin(), text_.roots.end()};
    for (const auto& root : marked_) mark_used(store_.layout, root);
    store_.uses.enter(
        this, [this](const Sha256& root, bool mark) { add(root, mark); }, text_.open);
    try {
      heart_ = start_thread([this](const std::stop_token& stop) { beat(stop); });
    } catch (const Error&) {
      store_.uses.leave(this);
      ::unlink(file_.c_str());
      throw;
    }
  }

  ~Holding() {
    store_.uses.leave(this);
    heart_.request_stop();
    heart_.join();
    for (const auto& root : marked_) mark_used(store_.layout, root);
    ::unlink(file_.c_str());
  }

  void add(const Sha256& root, bool mark) {
    {
      const std::lock_guard lock(mutex_);
      mark = mark && marked_.insert(root).second;
      take(root);
    }
    if (mark) mark_used(store_.layout, root);
  }

 private:
  void take(const Sha256& root) {
    const bool full = text_.roots.size() == lease_roots_max;
    if ((full && text_.open) || std::ranges::find(text_.roots, root) != text_.roots.end()) return;
    if (full)
      text_.open = true;
    else
      text_.roots.push_back(root);
    try {
      write();
    } catch (const Error&) {  // the disk is full: what is taken away is missed, and is fetched again
    }
  }

  void write() { replace_file(store_, file_, encode_lease(text_), false); }

  void beat(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stopped_.wait_for(lock, stop, lease_beat, [&] { return stop.stop_requested(); })) {
      if (::utimensat(AT_FDCWD, file_.c_str(), nullptr, 0) == 0 || errno != ENOENT) continue;
      try {  // a purge took it
        write();
      } catch (const Error&) {}
    }
  }

  Store::State& store_;
  const std::filesystem::path file_;
  std::mutex mutex_;  // of what follows
  std::condition_variable_any stopped_;
  LeaseText text_;
  std::set<Sha256> marked_;
  std::jthread heart_;
};

Lease::Lease() noexcept = default;
Lease::Lease(std::unique_ptr<Holding> holding) noexcept : holding_(std::move(holding)) {}
Lease::Lease(Lease&&) noexcept = default;
Lease& Lease::operator=(Lease&&) noexcept = default;
Lease::~Lease() = default;

void Lease::add(const Sha256& root) {
  if (holding_) holding_->add(root, true);
}

Lease Store::lease(const std::vector<Sha256>& roots, const std::string& note, const LeaseOptions& options) {
  LeaseText text{note, state_->job, options.open, 0, roots};
  if (text.roots.size() > lease_roots_max) {
    text.roots.resize(lease_roots_max);
    text.open = true;
  }
  try {
    text.since_ns = server_now(*state_);
    return Lease(
        std::make_unique<Lease::Holding>(*state_, std::move(text), state_->layout.leases() / state_->uses.new_name()));
  } catch (const Error&) {
    return {};
  }
}

}  // namespace sabath
