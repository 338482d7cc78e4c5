// The totals of one asset's fetch while they are learnt, and what of it is reused. Any thread.
#pragma once

#include <cstdint>
#include <mutex>

#include "fetch/hosts/reuse_meter.h"
#include "sabath/event.h"

namespace sabath {

// Counts what is reused where it is said, tells the total as soon as every size is known, and passes everything on.
// A listing's TotalKnown is of what one fragment stands for: it is added to the others.
class AssetMeter : public EventSink {
 public:
  explicit AssetMeter(EventSink& next) : next_(next) {}

  // Not `whole`: of the fragments a part is wanted, which the fragments themselves find out.
  void expect(std::uint64_t known_bytes, std::uint64_t files_of_unknown_size, std::uint64_t files, bool whole) {
    const std::lock_guard lock(mutex_);
    whole_ = whole;
    total_ = known_bytes;
    unknown_ = files_of_unknown_size;
    files_ = fragments_ = files;
  }

  void on(const Event& event) override {
    reused.on(event);
    if (const auto* listing = std::get_if<event::TotalKnown>(&event)) return enter(*listing);
    next_.on(event);
    if (const auto* learnt = std::get_if<event::SizeLearnt>(&event)) add(learnt->bytes);
  }
  ReuseMeter reused;

 private:
  void enter(const event::TotalKnown& listing) {
    const std::lock_guard lock(mutex_);
    listed_ = true;
    if (fragments_ == 1) return next_.on(listing);
    files_ += listing.files_total - 1;  // the fragment itself was counted as one
    next_.on(event::TotalKnown{std::nullopt, whole_ ? files_ : 0});
  }

  void add(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    total_ += bytes;
    if (unknown_ > 0 && --unknown_ == 0 && !listed_) next_.on(event::TotalKnown{total_, files_});
  }

  EventSink& next_;
  std::mutex mutex_;
  std::uint64_t total_ = 0, unknown_ = 0, files_ = 0, fragments_ = 0;
  bool whole_ = true;
  bool listed_ = false;  // then sizes are learnt of files that no total counts
};

}  // namespace sabath
