// What each source gave: one line for each, counted where it happens. Thread-safe; sources live as long as the ledger.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sabath/event.h"
#include "sabath/fetcher.h"
#include "sabath/verbs/fetch.h"

namespace sabath {

class Ledger;

class SourceLine {
 public:
  SourceLine(std::uint32_t id, std::string label, EventSink& events)
      : id_(id), label_(std::move(label)), events_(events) {}
  Traffic traffic;  // fetchers count here

  void received(std::uint64_t bytes);  // the display hears of it with the next tell()
  void tell();
  void succeeded();  // ends a row of failures
  void failed(const Failure& failure, bool demote);
  void tell_pause(std::string host, const Failure& failure);  // if it asks for one that is worth telling
  [[nodiscard]] std::optional<Failure> given_up() const;      // failed many times in a row, over all files
  void believe();                                             // nothing proves what it gave, and it counts
  void merge(const SourceRecord& other);                      // what another rank has counted of this source
  [[nodiscard]] SourceRecord record() const;

 private:
  using Clock = std::chrono::steady_clock;
  const std::uint32_t id_;
  const std::string label_;
  EventSink& events_;
  std::atomic<std::uint64_t> untold_{0};  // bytes
  mutable std::mutex mutex_;
  std::uint64_t failures_ = 0;
  std::atomic<unsigned> failures_in_a_row_{0};
  Clock::time_point row_began_;
  bool demoted_ = false, later_ = false, believed_ = false;
  Failure last_;
};

class Ledger {
 public:
  explicit Ledger(EventSink& events) : events_(events) {}
  // The line of this label, made at its first use. A listed file's label is its origin, another's is its URL.
  SourceLine& line(const std::string& label);
  void believe(const std::string& label);                   // the source of this label, if one was used
  void tell();                                              // what came of all lines
  [[nodiscard]] std::vector<SourceRecord> records() const;  // in the order of first use
  [[nodiscard]] std::uint64_t bytes() const;                // payload of all sources

 private:
  EventSink& events_;
  mutable std::mutex mutex_;
  std::deque<SourceLine> lines_;
  std::map<std::string, SourceLine*> by_label_;
};

}  // namespace sabath
