// The sink between a fetcher and a file on its way: refuses web pages, keeps the rate limit, reports to the display.
// One transfer, one thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "fetch/hosts/context.h"
#include "fetch/hosts/hosts.h"
#include "fetch/hosts/ledger.h"

namespace sabath {

class GuardedSink : public Sink {
 public:
  using Begin = std::function<void(const ContentInfo&)>;
  using Write = std::function<void(std::span<const std::byte>)>;
  // `proved_size`: the length that is published of the content: a page of just this length is what was asked.
  GuardedSink(FetchContext& context, SourceLine& line, const Url& url, std::optional<std::uint64_t> proved_size,
              Begin on_begin, Write on_write, Host* host = nullptr)
      : context_(context),
        line_(line),
        url_(url),
        proved_size_(proved_size),
        on_begin_(std::move(on_begin)),
        on_write_(std::move(on_write)),
        host_(host) {}
  ~GuardedSink() override { line_.tell(); }
  GuardedSink(const GuardedSink&) = delete;
  GuardedSink& operator=(const GuardedSink&) = delete;
  // Said before each wait for the rate limit: what comes late now is not the source's lateness.
  void on_wait(std::function<void()> tell) { on_wait_ = std::move(tell); }
  // Nothing else proves what comes: the source's own hash of its answer is compared.
  void compare_answer() { compares_ = true; }
  // A checksum of the whole is compared later: it decides what a page is, and page() is the reason if it fails.
  void prove_later() { proves_later_ = true; }
  void start(const ReadRequest& request);
  void connecting() override;
  void connected(std::chrono::microseconds trip) override;
  void begin(const ContentInfo& info) override;
  void write(std::span<const std::byte> bytes) override;
  void finish();   // there is no more: what was held back goes on
  void compare();  // after finish(): all has come. Throws Error{content}
  [[nodiscard]] const ContentInfo& info() const { return info_; }
  [[nodiscard]] const std::optional<Failure>& page() const { return page_; }
  [[nodiscard]] std::uint64_t received() const { return received_; }

 private:
  void pass(std::span<const std::byte> bytes);

  FetchContext& context_;
  SourceLine& line_;
  const Url& url_;
  const std::optional<std::uint64_t> proved_size_;
  Begin on_begin_;
  Write on_write_;
  std::function<void()> on_wait_;
  Host* const host_;  // learns here how quick it is
  std::chrono::steady_clock::time_point asked_{};
  ContentInfo info_;
  std::uint64_t offset_ = 0, received_ = 0;
  bool may_be_page_ = true, begun_ = false, compares_ = false, proves_later_ = false, part_ = false;
  std::optional<Failure> page_;
  std::optional<ChecksumSet> sums_;  // of this answer
  std::vector<std::byte> head_;      // held back until it can be judged
};

// Reads a range of `url` into `sink` with the fetcher of its scheme. Throws Error{unavailable} for an unknown scheme.
void read_source(FetchContext& context, const ReadRequest& request, SourceLine& line, GuardedSink& sink);

}  // namespace sabath
