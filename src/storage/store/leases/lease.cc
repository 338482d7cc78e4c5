#include "store/leases/lease.h"

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
#include "store/disk/note.h"
#include "store/leases/lease_file.h"
#include "store/leases/uses.h"

namespace sabath {

class Lease::Holding {
 public:
  Holding(const Layout& layout, Temporaries& temporaries, Uses& uses, LeaseText text)
      : layout_(layout),
        temporaries_(temporaries),
        uses_(uses),
        file_(layout.leases() / uses.new_name()),
        text_(std::move(text)) {
    write();
    marked_ = {text_.roots.begin(), text_.roots.end()};
    for (const auto& root : marked_) mark_used(layout_, root);
    uses_.enter(
        this, [this](const Sha256& root, bool mark) { add(root, mark); }, text_.open);
    try {
      heart_ = start_thread([this](const std::stop_token& stop) { beat(stop); });
    } catch (const Error&) {
      uses_.leave(this);
      ::unlink(file_.c_str());
      throw;
    }
  }

  ~Holding() {
    uses_.leave(this);
    heart_.request_stop();
    heart_.join();
    for (const auto& root : marked_) mark_used(layout_, root);
    ::unlink(file_.c_str());
  }

  void add(const Sha256& root, bool mark) {
    {
      const std::lock_guard lock(mutex_);
      mark = mark && marked_.insert(root).second;
      take(root);
    }
    if (mark) mark_used(layout_, root);
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
    } catch (const Error&) {  // the disk is full: collected content is missed, and fetched again
    }
  }

  void write() { replace_file(temporaries_, file_, bind_note(note_name(layout_, file_), encode_lease(text_)), false); }

  void beat(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stopped_.wait_for(lock, stop, lease_beat, [&] { return stop.stop_requested(); })) {
      if (::utimensat(AT_FDCWD, file_.c_str(), nullptr, 0) == 0 || errno != ENOENT) continue;
      try {  // a purge took it
        write();
      } catch (const Error&) {}
    }
  }

  const Layout& layout_;
  Temporaries& temporaries_;
  Uses& uses_;
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

Lease Lease::begin(const Layout& layout, Temporaries& temporaries, Uses& uses, LeaseText text) {
  if (text.roots.size() > lease_roots_max) {
    text.roots.resize(lease_roots_max);
    text.open = true;
  }
  try {
    text.since_ns = server_now(temporaries);
    return Lease(std::make_unique<Holding>(layout, temporaries, uses, std::move(text)));
  } catch (const Error&) {
    return {};
  }
}

}  // namespace sabath
