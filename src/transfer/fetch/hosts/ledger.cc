#include "fetch/hosts/ledger.h"

#include <bit>
#include <utility>

#include "fetch/decide/retry.h"

namespace sabath {

namespace {
// Failures in a row over all files and lanes, for so long: the host is down, do not ask for each file.
constexpr unsigned give_up_after = 12;
constexpr std::chrono::seconds give_up_after_time(10);
constexpr std::chrono::seconds pause_told(1);
}  // namespace

void SourceLine::received(std::uint64_t bytes) {
  if (failures_in_a_row_ > 0) failures_in_a_row_ = 0;
  untold_ += bytes;
}

void SourceLine::tell() {
  if (const std::uint64_t bytes = untold_.exchange(0); bytes > 0) events_.on(event::BytesReceived{id_, bytes});
}

void SourceLine::succeeded() { failures_in_a_row_ = 0; }

void SourceLine::failed(const Failure& failure, bool demote) {
  {
    const std::lock_guard lock(mutex_);
    ++failures_;
    if (failure.kind == FailureKind::network && failures_in_a_row_++ == 0) row_began_ = Clock::now();
    demoted_ = demoted_ || demote;
    later_ = later_ || asks_for_later(failure);
    last_ = failure;
  }
  events_.on(event::SourceFailed{id_, failure.message, demote});
}

void SourceLine::tell_pause(std::string host, const Failure& failure) {
  const std::chrono::duration<double> pause = failure.retry_after.value_or(std::chrono::milliseconds(0));
  if (pause >= pause_told) events_.on(event::HostPaused{std::move(host), pause.count()});
}

std::optional<Failure> SourceLine::given_up() const {
  const std::lock_guard lock(mutex_);
  if (later_) return last_;
  if (failures_in_a_row_ < give_up_after || Clock::now() - row_began_ < give_up_after_time) return std::nullopt;
  return last_;
}

void SourceLine::believe() {
  const std::lock_guard lock(mutex_);
  believed_ = true;
}

void SourceLine::merge(const SourceRecord& other) {
  traffic.bytes += other.bytes;
  traffic.requests += other.requests;
  const std::lock_guard lock(mutex_);
  failures_ += other.failures;
  demoted_ = demoted_ || other.demoted;
  if (last_.message.empty()) last_.message = other.reason;
}

SourceRecord SourceLine::record() const {
  const std::lock_guard lock(mutex_);
  const unsigned reaches = traffic.reaches;
  const auto reach = reaches == 0 ? std::nullopt : std::optional(static_cast<Reach>(std::countr_zero(reaches)));
  return {label_, traffic.bytes.load(), traffic.requests.load(), failures_, demoted_, last_.message, believed_, reach};
}

SourceLine& Ledger::line(const std::string& label) {
  const std::lock_guard lock(mutex_);
  SourceLine*& line = by_label_[label];
  if (line == nullptr) {
    const auto id = static_cast<std::uint32_t>(lines_.size());
    line = &lines_.emplace_back(id, label, events_);
    events_.on(event::SourceNamed{id, label});
  }
  return *line;
}

void Ledger::believe(const std::string& label) {
  const std::lock_guard lock(mutex_);
  if (const auto found = by_label_.find(label); found != by_label_.end()) found->second->believe();
}

void Ledger::tell() {
  const std::lock_guard lock(mutex_);
  for (SourceLine& line : lines_) line.tell();
}

std::vector<SourceRecord> Ledger::records() const {
  const std::lock_guard lock(mutex_);
  std::vector<SourceRecord> records;
  for (const auto& line : lines_) records.push_back(line.record());
  return records;
}

std::uint64_t Ledger::bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& line : lines_) sum += line.traffic.bytes.load();
  return sum;
}

}  // namespace sabath
