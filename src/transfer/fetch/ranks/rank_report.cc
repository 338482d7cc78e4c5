#include "fetch/ranks/rank_report.h"

#include <algorithm>

#include "fetch/ranks/job_parcel.h"

namespace sabath {

namespace {
constexpr std::size_t warnings_max = 20;  // for one order
}

void RankMeter::on(const Event& event) {
  if (const auto* reused = std::get_if<event::BytesReused>(&event)) {
    reused_.on(event);
    if (!reused->by_others) on(event::BytesKept{static_cast<std::int64_t>(reused->bytes)});
    return;
  }
  if (const auto* kept = std::get_if<event::BytesKept>(&event)) kept_ += kept->bytes;
  if (next_ != nullptr) return next_->on(event);
  if (const auto* received = std::get_if<event::BytesReceived>(&event)) received_ += received->bytes;
  const std::lock_guard lock(mutex_);
  if (const auto* done = std::get_if<event::FileDone>(&event)) tally_.files += shared_.contains(done->path) ? 0 : 1;
  if (const auto* learnt = std::get_if<event::SizeLearnt>(&event)) {
    ++tally_.sizes_learnt;
    tally_.sizes_learnt_bytes += learnt->bytes;
  }
  const auto* warning = std::get_if<event::Warning>(&event);
  if (warning != nullptr && warnings_.size() < warnings_max) warnings_.push_back(warning->text);
}

Rounds::Tally RankMeter::tally() const {
  const std::lock_guard lock(mutex_);
  Rounds::Tally tally = tally_;
  tally.received_bytes = received_;
  tally.kept_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(kept_, 0));
  return tally;
}

void RankMeter::take_back() { on(event::BytesKept{-kept_}); }

std::vector<std::string> RankMeter::warnings() const {
  const std::lock_guard lock(mutex_);
  return warnings_;
}

std::string RankReport::parcel() const {
  Parcel parcel;
  parcel.add(host).add(failure);
  for (const std::uint64_t bytes : reused) parcel.add(bytes);
  parcel.add(std::uint64_t{outcomes.size()});
  for (const auto& outcome : outcomes) put_outcome(parcel, outcome);
  parcel.add(std::uint64_t{sources.size()});
  for (const auto& source : sources) put_source(parcel, source);
  parcel.add(std::uint64_t{warnings.size()});
  for (const auto& warning : warnings) parcel.add(warning);
  return parcel.take();
}

RankReport RankReport::of(const std::string& bytes) {
  Parcel::Reader parcel(bytes);
  RankReport report;
  report.host = parcel.text();
  report.failure = parcel.failure();
  for (std::uint64_t& level : report.reused) level = parcel.number();
  for (auto left = parcel.number(); left > 0; --left) report.outcomes.push_back(get_outcome(parcel));
  for (auto left = parcel.number(); left > 0; --left) report.sources.push_back(get_source(parcel));
  for (auto left = parcel.number(); left > 0; --left) report.warnings.push_back(parcel.text());
  return report;
}

}  // namespace sabath
