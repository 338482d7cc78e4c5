// A fetcher over memory that keeps the contract of sabath/fetcher.h and misbehaves as it is told: the test double of
// an origin. One object is both the set and the fetcher of every scheme. Any thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sabath/error.h"
#include "sabath/fetcher.h"

namespace sabath::test {

// How one URL answers. Values that count down ("times") are used up by the requests that they spoil.
// A behaviour is copied for each read; what it gives is not.
class SharedText {
 public:
  SharedText(const char* text) : SharedText(std::string(text)) {}
  SharedText(std::string text) : text_(std::make_shared<const std::string>(std::move(text))) {}
  SharedText() : SharedText(std::string()) {}
  [[nodiscard]] const std::string& get() const { return *text_; }

 private:
  std::shared_ptr<const std::string> text_;
};

struct Behaviour {
  static constexpr std::uint64_t never = UINT64_MAX;
  SharedText bytes;
  bool ranges = true;      // false: a read that does not begin at 0 is answered by no_ranges
  bool size_known = true;  // false: no length in the answer
  std::string etag{};
  std::string content_type{};
  std::uint64_t break_after = never;  // bytes of one answer, then the connection breaks ...
  unsigned break_times = UINT32_MAX;  // ... so often
  std::uint64_t flip_at = never;      // this byte of the source is wrong
  std::optional<Failure> refusal{};   // instead of an answer ...
  unsigned refusal_times = UINT32_MAX;
  std::size_t piece_size = 1 << 20;
  std::chrono::milliseconds pause{0};         // before each piece
  std::function<void(Behaviour&)> on_read{};  // before each answer: changes what comes; the origin's mutex is held
};

struct MemoryRead {
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
  Validators expected;
  std::uint64_t sent = 0;
};

class MemoryOrigin : public FetcherSet, public Fetcher {
 public:
  void put(const std::string& url, Behaviour behaviour);
  [[nodiscard]] std::vector<MemoryRead> reads(const std::string& url) const;
  [[nodiscard]] std::uint64_t sent(const std::string& url) const;  // bytes, over all reads
  [[nodiscard]] std::uint64_t sent() const;

  [[nodiscard]] Fetcher* find(std::string_view scheme) const override;
  [[nodiscard]] std::vector<Scheme> schemes() const override { return {}; }
  void read(const ReadRequest& request, Sink& sink, Traffic& traffic, std::stop_token stop) override;

 private:
  struct Source {
    Behaviour behaviour;
    std::vector<MemoryRead> reads;
  };
  [[nodiscard]] Behaviour begin_read(const ReadRequest& request, std::size_t& number);

  mutable std::mutex mutex_;
  std::map<std::string, Source> sources_;
};

}  // namespace sabath::test
