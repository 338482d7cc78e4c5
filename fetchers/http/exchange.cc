#include "http/exchange.h"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>

#include "http/digests.h"

namespace sabath {
namespace {

// Reading a short rest keeps the connection for the next request; a long one costs more than a new connection.
constexpr std::uint64_t drain_max = 64 * 1024;  // bytes

}  // namespace

Exchange::Exchange(const ReadRequest& request, Redirects& redirects, Sink& sink, std::string_view access_hint,
                   Checksums* by_etag)
    : request_(request),
      redirects_(redirects),
      sink_(sink),
      access_hint_(access_hint),
      by_etag_(by_etag),
      source_(redirects.current().display()),
      parser_(source_) {}

void Exchange::connected(const Connected& connection) {
  redirects_.reached(connection.reach);
  sink_.connected(connection.trip);
  parser_ = HeadParser(source_);  // libcurl sends again, unasked, when a kept connection turns out to be dead
}

void Exchange::header(std::string_view line) {
  if (verdict_ || !parser_.feed(line)) return;  // after the head come trailers: they say nothing that we need
  verdict_ = judge(request_, parser_.head(), source_, std::time(nullptr));
  if (by_etag_ != nullptr) note_etag();
  if (!delivering()) return;
  limit_ = std::min(verdict_->wanted.value_or(UINT64_MAX), request_.length.value_or(UINT64_MAX));
  verdict_->info.final_url = source_;
  verdict_->info.shared = parser_.head().stream;
  verdict_->info.reach = redirects_.reach();
  sink_.begin(verdict_->info);
}

// Only the hub itself is heard; where it leads, an ETag is of another kind.
void Exchange::note_etag() {
  const ResponseHead& head = parser_.head();
  const std::string& etag = head.linked_etag.empty() ? head.etag : head.linked_etag;
  const Checksums said = redirects_.current().origin() == request_.url.origin() ? parse_hub_etag(etag) : Checksums{};
  if (!said.empty()) *by_etag_ = said;
  if (verdict_->info.said.empty()) verdict_->info.said = *by_etag_;
}

bool Exchange::body(std::span<const std::byte> bytes) {
  received_ += bytes.size();
  if (!delivering()) return worth_draining();
  const std::uint64_t take = std::min<std::uint64_t>(bytes.size(), limit_ - delivered_);
  if (take > 0) {
    sink_.write(bytes.first(take));
    delivered_ += take;
  }
  return delivered_ < limit_ || worth_draining();
}

bool Exchange::worth_draining() const {
  const auto length = parser_.head().content_length;
  const std::uint64_t unwanted = length.value_or(received_) - delivered_;
  return unwanted <= drain_max;
}

std::optional<std::string> Exchange::finish(const std::optional<Failure>& transport_failure) const {
  if (verdict_ && verdict_->action == AnswerVerdict::Action::refuse) refuse();
  if (verdict_ && verdict_->action == AnswerVerdict::Action::redirect) return parser_.head().location;
  if (verdict_ && delivered_ == limit_) return std::nullopt;
  if (transport_failure) throw Error(*transport_failure);
  if (!verdict_) throw Error(FailureKind::network, fmt::format("cannot read {}: the response has no head", source_));
  if (verdict_->wanted) {
    throw Error(FailureKind::network,
                fmt::format("cannot read {}: truncated: {} of {} bytes came", source_, delivered_, *verdict_->wanted));
  }
  return std::nullopt;
}

void Exchange::refuse() const {
  throw Error(
      refused_access(verdict_->failure, parser_.head().status, request_.url, redirects_.current(), access_hint_));
}

}  // namespace sabath
