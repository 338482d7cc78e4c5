#include "fetch/guarded_sink.h"

#include <fmt/format.h>

#include "fetch/page_guard.h"

namespace sabath {

void GuardedSink::begin(const ContentInfo& info) {
  info_ = info;
  // A page is refused at its first bytes, which say why: so the size it has is not held against it here.
  const bool page = info.content_type == "text/html" || info.content_type == "application/xhtml+xml";
  if (!page) on_begin_(info);
}

void GuardedSink::write(std::span<const std::byte> bytes) {
  if (received_ == 0) {
    if (auto failure = refuse_page(url_, info_, bytes)) throw Error(*failure);
    if (info_.content_type == "text/html" || info_.content_type == "application/xhtml+xml") on_begin_(info_);
  }
  received_ += bytes.size();
  line_.received(bytes.size());
  context_.limiter.take(bytes.size(), context_.stop);
  if (context_.stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
  on_write_(bytes);
}

void read_source(FetchContext& context, const ReadRequest& request, SourceLine& line, GuardedSink& sink) {
  Fetcher* fetcher = context.fetchers.find(request.url.scheme());
  if (fetcher == nullptr) {
    throw Error(FailureKind::unavailable,
                fmt::format("no fetcher of this build reads {}:// ({})", request.url.scheme(), request.url.display()),
                "`sabath fetchers` lists the schemes; or fetch the file by hand and give it with --path");
  }
  fetcher->read(request, sink, line.traffic, context.stop);
}

}  // namespace sabath
