#include "s3/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/text.h"
#include "base/wording.h"
#include "s3/place.h"
#include "sabath/path.h"

namespace sabath::s3 {
namespace {

constexpr std::uint64_t drain_max = 64 * 1024;  // bytes that are read to keep the connection

// The value of a header line, if it is the one of this name.
std::string value_of(std::string_view line, std::string_view name) {
  const std::size_t colon = line.find(':');
  if (colon == line.npos || to_lower(line.substr(0, colon)) != name) return {};
  return std::string(trim(line.substr(colon + 1)));
}

}  // namespace

Exchange::Exchange(const ReadRequest& request, Sink& sink)
    : request_(request), sink_(sink), source_(request.url.display()), parser_(source_) {}

void Exchange::connected(const Connected& connection) {
  parser_ = HeadParser(source_);
  reach_ = connection.reach;
  sink_.connected(connection.trip);
}

void Exchange::header(std::string_view line) {
  if (verdict_) return;
  if (const std::string region = value_of(line, "x-amz-bucket-region"); is_region(region)) region_ = region;
  if (!parser_.feed(line)) return;
  verdict_ = judge(request_, parser_.head(), source_, std::time(nullptr));
  if (!delivering()) return;
  limit_ = std::min(verdict_->wanted.value_or(UINT64_MAX), request_.length.value_or(UINT64_MAX));
  verdict_->info.final_url = source_;
  verdict_->info.reach = reach_;
  sink_.begin(verdict_->info);
}

bool Exchange::body(std::span<const std::byte> bytes) {
  received_ += bytes.size();
  if (!delivering()) {
    const std::size_t take = std::min(bytes.size(), refusal_size_max - refusal_.size());
    refusal_.append(reinterpret_cast<const char*>(bytes.data()), take);
    return refusal_.size() < refusal_size_max;
  }
  const std::uint64_t take = std::min<std::uint64_t>(bytes.size(), limit_ - delivered_);
  if (take > 0) sink_.write(bytes.first(take));
  delivered_ += take;
  return delivered_ < limit_ || parser_.head().content_length.value_or(received_) - delivered_ <= drain_max;
}

std::optional<std::string> Exchange::finish(const std::optional<Failure>& transport_failure,
                                            const std::string& asked_region, bool is_signed) const {
  if (verdict_ && !delivering()) {
    const Refusal refusal = parse_refusal(refusal_);
    const std::string& region = refusal.region.empty() ? region_ : refusal.region;
    const int status = parser_.head().status;
    if ((status / 100 == 3 || status == 400) && !region.empty() && region != asked_region) return region;
    refuse(refusal, is_signed);
  }
  if (verdict_ && delivered_ == limit_) return std::nullopt;
  if (transport_failure) throw Error(*transport_failure);
  if (!verdict_) throw Error(FailureKind::network, fmt::format("cannot read {}: the response has no head", source_));
  if (verdict_->wanted) {
    throw Error(FailureKind::network,
                fmt::format("cannot read {}: truncated: {} of {} bytes came", source_, delivered_, *verdict_->wanted));
  }
  return std::nullopt;
}

// S3 never redirects to another owner's host, so a Location is not followed.
void Exchange::refuse(const Refusal& refusal, bool is_signed) const {
  const ResponseHead& head = parser_.head();
  const auto meaning = try_meaning(refusal.code);
  Failure failure = verdict_->failure;
  if (verdict_->action == AnswerVerdict::Action::redirect) failure.kind = FailureKind::unavailable;
  if (meaning && failure.kind != FailureKind::changed) {
    failure.kind = meaning->kind;
    failure.hint = meaning->hint;
  }
  const bool denied = head.status == 401 || head.status == 403;
  if (denied && !is_signed && (!meaning || meaning->general) && failure.kind == FailureKind::access) {
    failure.hint =
        "it was asked without keys; for a private bucket set AWS_PROFILE or AWS_ACCESS_KEY_ID (docs/credentials.md)";
  }
  if (refusal.message.find("equester pays") != refusal.message.npos) {
    failure.hint = fmt::format(
        "who reads this bucket pays for it, which SABATH never does: `aws s3 cp --request-payer requester` gets the "
        "file, and {} takes it",
        option_text("path"));
  }
  failure.message = fmt::format("cannot read {}: HTTP {}", source_, head.status);
  if (!refusal.code.empty()) {
    failure.message += fmt::format(" {}: {}", printable(refusal.code, 60), printable(refusal.message, 200));
  } else if (!verdict_->failure.message.empty()) {
    failure.message = verdict_->failure.message;
  }
  throw Error(failure);
}

}  // namespace sabath::s3
