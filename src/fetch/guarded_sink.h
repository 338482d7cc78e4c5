// The sink between a fetcher and a file on its way: refuses web pages, keeps the rate limit, tells the display.
// One transfer, one thread.
#pragma once

#include <functional>

#include "fetch/context.h"

namespace sabath {

class GuardedSink : public Sink {
 public:
  using Begin = std::function<void(const ContentInfo&)>;
  using Write = std::function<void(std::span<const std::byte>)>;
  GuardedSink(FetchContext& context, SourceLine& line, const Url& url, Begin on_begin, Write on_write)
      : context_(context), line_(line), url_(url), on_begin_(std::move(on_begin)), on_write_(std::move(on_write)) {}
  void begin(const ContentInfo& info) override;
  void write(std::span<const std::byte> bytes) override;
  [[nodiscard]] const ContentInfo& info() const { return info_; }
  [[nodiscard]] std::uint64_t received() const { return received_; }

 private:
  FetchContext& context_;
  SourceLine& line_;
  const Url& url_;
  Begin on_begin_;
  Write on_write_;
  ContentInfo info_;
  std::uint64_t received_ = 0;
};

// Reads a range of `url` into `sink` with the fetcher of its scheme. Throws Error{unavailable} for an unknown scheme.
void read_source(FetchContext& context, const ReadRequest& request, SourceLine& line, GuardedSink& sink);

}  // namespace sabath
