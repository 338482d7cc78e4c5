#include "http/verdict.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "base/wording.h"
#include "curl/transport.h"
#include "http/digests.h"
#include "http/quota.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t validator_size_max = 1024;

// A validator that came from a server is sent back to one: it must not be able to carry another header.
bool may_stand_in_header(std::string_view text) {
  return !text.empty() && text.size() <= validator_size_max &&
         std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// The last byte to ask for; nullopt: the source's. A read of nothing asks for one byte, because that is how HTTP says
// size and version in one request whose connection lives on.
std::optional<std::uint64_t> last_asked(const ReadRequest& request) {
  constexpr std::uint64_t position_max = INT64_MAX - 1;  // servers hold positions in signed integers
  if (!request.length || request.offset > position_max) return std::nullopt;
  const std::uint64_t length = std::max<std::uint64_t>(*request.length, 1);
  if (length - 1 > position_max - request.offset) return std::nullopt;
  return request.offset + length - 1;
}

Validators validators_of(const ResponseHead& head) {
  return {may_stand_in_header(head.etag) ? head.etag : "",
          may_stand_in_header(head.last_modified) ? head.last_modified : ""};
}

// Silence is not a contradiction: content is named by its hash, and that decides in the end.
bool contradicts(const Validators& expected, const Validators& found) {
  if (!expected.etag.empty() && !found.etag.empty()) return expected.etag != found.etag;
  return !expected.last_modified.empty() && !found.last_modified.empty() &&
         expected.last_modified != found.last_modified;
}

class Judge {
 public:
  Judge(const ReadRequest& request, const ResponseHead& head, const std::string& source, std::int64_t now)
      : request_(request), head_(head), source_(source), now_(now) {}

  AnswerVerdict verdict() const {
    switch (head_.status) {
      case 200:
        return is_slice() ? part() : whole();
      case 206:
        return part();
      case 301:
      case 302:
      case 303:
      case 307:
      case 308:
        return redirect();
      case 416:
        return beyond();
      default:
        return refuse_status();
    }
  }

 private:
  // Some servers send the slice that was asked for, name it in Content-Range, and yet call it 200.
  [[nodiscard]] bool is_slice() const {
    const auto range = try_parse_content_range(head_.content_range);
    if (!range || !range->first) return false;
    if (!range->total) return *range->first > 0 || asks_range(request_);
    return head_.content_length.value_or(*range->last - *range->first + 1) != *range->total;
  }

  AnswerVerdict whole() const {
    const auto length = unpacking() ? std::nullopt : head_.content_length;
    AnswerVerdict verdict = deliver(length);
    if (verdict.action == AnswerVerdict::Action::refuse) return verdict;
    if (request_.offset > 0) return refuse(FailureKind::no_ranges, "the byte range was ignored");
    verdict.wanted = length;
    // As many as were asked for may be all, or the slice, by a server that does not say so: its size is not known.
    if (length && length == length_asked()) verdict.info.size_bytes.reset();
    say_hashes(verdict, !request_.length || (length && *length <= *request_.length));
    if (request_.length) verdict.wanted = std::min(*request_.length, length.value_or(*request_.length));
    // Without a length of its own a body may end before all that was asked has come, and still be whole.
    if (!length) verdict.wanted.reset();
    return verdict;
  }

  [[nodiscard]] std::optional<std::uint64_t> length_asked() const {
    const auto last = last_asked(request_);
    return last ? std::optional(*last - request_.offset + 1) : std::nullopt;
  }

  [[nodiscard]] bool unpacking() const {
    return request_.coding == Coding::unpacked && !head_.content_encoding.empty();
  }

  AnswerVerdict part() const {
    if (unpacking()) return refuse(FailureKind::no_ranges, "a part of what is packed cannot be unpacked");
    if (!asks_range(request_))
      return refuse(FailureKind::unavailable, "a part was sent though the whole was asked for");
    const auto range = try_parse_content_range(head_.content_range);
    if (!range || !range->first) return refuse_range();
    const std::uint64_t source_last = range->total ? *range->total - 1 : UINT64_MAX;
    const std::uint64_t last = std::min(last_asked(request_).value_or(UINT64_MAX), source_last);
    const bool exact = range->last == last || (!range->total && !last_asked(request_));  // "bytes=5-" answered "5-9/*"
    if (range->first != request_.offset || !exact) return refuse_range();
    const std::uint64_t length = *range->last - *range->first + 1;
    if (head_.content_length && head_.content_length != length) return refuse_range();
    AnswerVerdict verdict = deliver(range->total);
    verdict.info.ranges = true;
    verdict.wanted = std::min(length, request_.length.value_or(length));
    say_hashes(verdict, verdict.wanted == length);
    return verdict;
  }

  // What is packed has the hashes of the packed bytes. `all`: every byte of the answer is delivered.
  void say_hashes(AnswerVerdict& verdict, bool all) const {
    if (!head_.content_encoding.empty() || verdict.info.unpacked_on_the_way) return;
    verdict.info.said = parse_digests(head_.digests);
    if (all) verdict.info.said_of_answer = parse_digests(head_.content_digests);
  }

  AnswerVerdict redirect() const {
    if (head_.location.empty()) return refuse(FailureKind::unavailable, "a redirect without a Location");
    AnswerVerdict verdict;
    verdict.action = AnswerVerdict::Action::redirect;
    return verdict;
  }

  // The range begins where the source ends: there is nothing to send, and that is what was asked for.
  AnswerVerdict beyond() const {
    const auto range = try_parse_content_range(head_.content_range);
    const auto total = range ? range->total : std::nullopt;
    if (total && *total == request_.offset) {
      AnswerVerdict verdict = deliver(total);
      verdict.info.ranges = true;
      verdict.wanted = 0;
      return verdict;
    }
    const std::string what =
        fmt::format("it ends {}before offset {}", total ? fmt::format("at byte {}, ", *total) : "", request_.offset);
    return refuse(request_.expected.empty() ? FailureKind::unavailable : FailureKind::changed, what);
  }

  AnswerVerdict deliver(std::optional<std::uint64_t> size_bytes) const {
    AnswerVerdict verdict;
    verdict.action = AnswerVerdict::Action::deliver;
    verdict.info.size_bytes = size_bytes;
    verdict.info.ranges = head_.accepts_ranges;
    verdict.info.validators = validators_of(head_);
    verdict.info.content_type = head_.content_type;
    verdict.info.pause = quota_pause(head_, now_);
    verdict.info.encoding = head_.content_encoding;
    const bool stored_otherwise = head_.transformed || !head_.stored_encoding.empty();
    verdict.info.unpacked_on_the_way = head_.content_encoding.empty() && stored_otherwise;
    if (request_.coding == Coding::plain && !head_.content_encoding.empty()) {
      verdict.action = AnswerVerdict::Action::refuse;
      verdict.failure = refused_coding(head_, source_);
      return verdict;
    }
    if (contradicts(request_.expected, verdict.info.validators)) {
      return refuse(FailureKind::changed, "the source has another version than the one that was begun");
    }
    return verdict;
  }

  AnswerVerdict refuse_status() const {
    const int status = head_.status;
    const std::string what = fmt::format("HTTP {} {}", status, printable(head_.reason, 80));
    if (status == 202) {
      return refuse(FailureKind::network, what + ": it is not ready yet",
                    "the server prepares it, from a tape perhaps: the same command goes on later, with what has come");
    }
    if (status == 401) {
      return refuse(FailureKind::access, what,
                    "log in as the asset's access steps say: name and password for the host in ~/.netrc (https only), "
                    "or a token by `tokens` of the configuration (docs/credentials.md)");
    }
    if (status == 403 && quota_pause(head_, now_))
      return refuse(FailureKind::network, what + ", and no request is left", "it goes on when the server allows more");
    if (status == 403 && try_parse_retry_after(head_.retry_after, now_))
      return refuse(FailureKind::network, what + ", for a while", "the server limits how often it is asked");
    if (status == 403) {
      return refuse(FailureKind::access, what,
                    "no permission: it may want a login, by ~/.netrc or `tokens` of the configuration "
                    "(docs/credentials.md), and some servers say so for a wrong path too");
    }
    if (status == 407)
      return refuse(FailureKind::access, what, "the proxy wants a login: see https_proxy and http_proxy");
    if (status == 412) return refuse(FailureKind::changed, what + ": another version than the one that was begun");
    if (status == 404 || status == 410)
      return refuse(FailureKind::unavailable, what, "check the path, or use another mirror");
    if (status == 408 || status == 425 || status == 429 || status >= 500) {
      return refuse(FailureKind::network, what,
                    "the server is overloaded or out of order; another mirror may do better");
    }
    return refuse(FailureKind::unavailable, what);
  }

  AnswerVerdict refuse_range() const {
    const auto asked = last_asked(request_);
    const std::string last = asked ? std::to_string(*asked) : "";
    const std::string said = head_.content_range.empty() ? "no Content-Range" : printable(head_.content_range, 80);
    return refuse(FailureKind::no_ranges,
                  fmt::format("bytes {}-{} were asked for, {} came", request_.offset, last, said),
                  "its answers to ranges cannot be trusted; it can be read from its start");
  }

  AnswerVerdict refuse(FailureKind kind, const std::string& what, std::string hint = {}) const {
    AnswerVerdict verdict;
    verdict.failure = {kind, fmt::format("cannot read {}: {}", source_, what), std::move(hint), std::nullopt};
    if (kind == FailureKind::network) {
      verdict.failure.retry_after = try_parse_retry_after(head_.retry_after, now_);
      if (!verdict.failure.retry_after) verdict.failure.retry_after = quota_pause(head_, now_);
      if (const auto pause = verdict.failure.retry_after; pause && pause->count() > 0) {
        verdict.failure.message +=
            fmt::format("; it asks to come back in {}", format_duration(std::chrono::duration<double>(*pause).count()));
      }
      // Too many of us (RFC 6585 section 4), or of all (RFC 9110 section 15.6.4); for how long it does not say.
      const bool crowded = head_.status == 429 || head_.status == 503;
      if (crowded && !verdict.failure.retry_after) verdict.failure.retry_after = std::chrono::milliseconds(0);
    }
    return verdict;
  }

  const ReadRequest& request_;
  const ResponseHead& head_;
  const std::string& source_;
  std::int64_t now_;
};

}  // namespace

Failure refused_coding(const ResponseHead& head, const std::string& source) {
  return {FailureKind::unavailable,
          fmt::format("cannot read {}: the response is refused: it is sent with Content-Encoding {}, though identity "
                      "was asked for",
                      source, head.content_encoding),
          "the server or a proxy on the way packs what it sends; use another mirror", std::nullopt};
}

Failure refused_access(Failure failure, int status, const Url& asked, const Url& at, std::string_view access_hint) {
  if (failure.kind != FailureKind::access || (status != 401 && status != 403)) return failure;
  if (at.origin() != asked.origin()) {
    failure.hint = fmt::format(
        "it was redirected to {}, and no login is sent to where a redirect leads (docs/credentials.md): name that "
        "place itself in the recipe, or fetch the file by hand and give it with {}",
        at.origin(), option_text("path"));
  } else if (!access_hint.empty()) {
    failure.hint = access_hint;
  }
  return failure;
}

bool asks_range(const ReadRequest& request) { return request.offset > 0 || request.length; }

std::vector<std::string> headers_for(const ReadRequest& request) {
  std::vector<std::string> headers = {request.coding == Coding::stored ? "Accept-Encoding: gzip"
                                                                       : "Accept-Encoding: identity"};
  if (asks_range(request)) {
    const auto last = last_asked(request);
    headers.push_back(fmt::format("Range: bytes={}-{}", request.offset, last ? std::to_string(*last) : ""));
  }
  // If-Match rather than If-Range: a changed source then answers in a few bytes, and the connection lives on.
  const Validators& expected = request.expected;
  if (may_stand_in_header(expected.etag)) {
    if (!expected.etag.starts_with("W/")) headers.push_back("If-Match: " + expected.etag);  // weak ones never match
  } else if (may_stand_in_header(expected.last_modified)) {
    headers.push_back("If-Unmodified-Since: " + expected.last_modified);
  }
  return headers;
}

AnswerVerdict judge(const ReadRequest& request, const ResponseHead& head, const std::string& source, std::int64_t now) {
  return Judge(request, head, source, now).verdict();
}

TransferRequest transfer_for(const Url& url, const ReadRequest& request) {
  return {.url = url,
          .headers = headers_for(request),
          .one_of_many = request.one_of_many,
          .unpack = request.coding == Coding::unpacked};
}

}  // namespace sabath
