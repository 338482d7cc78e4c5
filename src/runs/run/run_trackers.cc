#include "run/run_trackers.h"

#include <algorithm>

#include "sabath/error.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::seconds between_looks{2};
constexpr int look_share = 50;  // at most a fiftieth of the time goes into looking

// The run's own files hold no tracker's.
bool is_own(const fs::path& name) { return name == "source" || name == "output" || name == "resources"; }

}  // namespace

void RunTrackers::tick() {
  const auto begin = Clock::now();
  if (begin < next_) return;
  look(false);
  const auto end = Clock::now();
  next_ = end + std::max<Clock::duration>(between_looks, (end - begin) * look_share);
}

void RunTrackers::read() { look(true); }

void RunTrackers::finish() { tracked_.finish(); }

// The first run that a program logs has its metrics under their own names; a further one has its path in front.
void RunTrackers::look(bool databases) {
  std::error_code unreadable;
  for (fs::directory_iterator at(run_, unreadable), end; !unreadable && at != end; at.increment(unreadable)) {
    if (!at->is_directory(unreadable) || is_own(at->path().filename())) continue;
    try {
      for (const TrackerPlace& place : find_tracker_places(at->path(), databases)) {
        if (first_.empty()) first_ = place.base;
        tracked_.follow(place, first_ == place.base ? "" : place.base.lexically_relative(at->path()).string() + "/");
      }
    } catch (const Error&) {}  // it may be there the next time
  }
  try {
    tracked_.read();
  } catch (const Error&) {}
}

}  // namespace sabath
