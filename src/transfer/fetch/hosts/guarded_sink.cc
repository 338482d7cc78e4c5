#include "fetch/hosts/guarded_sink.h"

#include <fmt/format.h>

#include "base/wording.h"
#include "fetch/hosts/page_guard.h"

namespace sabath {

namespace {
constexpr std::size_t head_size = 512;  // enough to know a page by; a server may send it byte by byte
}

void GuardedSink::start(const ReadRequest& request) {
  offset_ = request.offset;
  part_ = request.offset > 0 || request.length;
  begun_ = false;
  asked_ = std::chrono::steady_clock::now();
}

void GuardedSink::connecting() {
  if (host_ != nullptr) host_->connecting();
}

void GuardedSink::connected(std::chrono::microseconds trip) {
  if (host_ != nullptr && trip.count() > 0) host_->connected(trip);
}

void GuardedSink::begin(const ContentInfo& info) {
  info_ = info;
  if (compares_ && !info.said_of_answer.empty()) sums_.emplace(info.said_of_answer);
  if (host_ != nullptr) {
    if (part_) host_->parts.part_came();
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> waited = now - asked_;
    host_->answered(info.latency.count() > 0 ? info.latency : waited, waited, {context_.many, info.shared});
    if (info.pause) host_->pause_until(now + *info.pause, false);
  }
  may_be_page_ = offset_ == 0 && !(proved_size_ && info.size_bytes == proved_size_);
  // A page is refused at its first bytes, which say why: so the size it has is not held against it here.
  const bool page = info.content_type == "text/html" || info.content_type == "application/xhtml+xml";
  if (page && may_be_page_) return;
  try {
    on_begin_(info_);
    begun_ = true;
  } catch (const Error& error) {
    // Nor is it, where the server calls a page data: its first bytes are waited for, and the objection made then.
    const bool unread = may_be_page_ && info.size_bytes.value_or(1) > 0;
    if (!unread || error.failure().kind != FailureKind::content) throw;
  }
}

void GuardedSink::write(std::span<const std::byte> bytes) {
  received_ += bytes.size();
  if (sums_) sums_->update(bytes);
  line_.received(bytes.size());
  if (on_wait_ && (context_.limiter.limits() || (host_ != nullptr && host_->limited()))) on_wait_();
  if (host_ != nullptr) host_->received(bytes.size(), context_.stop);
  context_.limiter.take(bytes.size(), context_.stop);
  if (context_.stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
  if (!may_be_page_ || (head_.empty() && bytes.size() >= head_size)) return pass(bytes);
  head_.insert(head_.end(), bytes.begin(), bytes.end());
  if (head_.size() >= head_size) finish();
}

void GuardedSink::finish() {
  const auto held = std::exchange(head_, {});
  if (!held.empty() || !begun_) pass(held);
}

void GuardedSink::compare() {
  if (sums_) (void)sums_->finish_and_compare(url_.display(), SaidBy::source);
  sums_.reset();
}

void GuardedSink::pass(std::span<const std::byte> bytes) {
  if (may_be_page_) {
    page_ = refuse_page(url_, info_, bytes);
    if (page_ && !proves_later_) throw Error(*page_);
    may_be_page_ = false;
  }
  if (!std::exchange(begun_, true)) on_begin_(info_);
  if (!bytes.empty()) on_write_(bytes);
}

void read_source(FetchContext& context, const ReadRequest& request, SourceLine& line, GuardedSink& sink) {
  Fetcher* fetcher = context.fetchers.find(request.url.scheme());
  if (fetcher == nullptr) {
    throw Error(FailureKind::unavailable,
                fmt::format("no fetcher of this build reads {}:// ({})", request.url.scheme(), request.url.display()),
                fmt::format("`{}` lists the schemes; or fetch the file by hand and give it with {}",
                            verb_text("fetchers"), option_text("path")));
  }
  sink.start(request);
  try {
    fetcher->read(request, sink, line.traffic, context.stop);
  } catch (const Error& error) {
    if (error.failure().kind == FailureKind::network && sink.received() > 0) sink.finish();  // it came, and is kept
    throw;
  }
  sink.finish();
  sink.compare();
}

}  // namespace sabath
