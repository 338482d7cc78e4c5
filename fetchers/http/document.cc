#include "http/document.h"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/text.h"
#include "http/digests.h"
#include "http/redirects.h"
#include "http/response_head.h"
#include "http/verdict.h"
#include "sabath/error.h"
#include "sabath/secret.h"

namespace sabath {
namespace {

constexpr std::size_t fields_max = 100;

// One hop: the whole body in memory, bounded.
class Hop : public Receiver {
 public:
  Hop(const Question& question, Redirects& redirects)
      : document{0, {}, {}, {}, {}, {}, {}, redirects.current()},
        question_(question),
        redirects_(redirects),
        source_(redirects.current().display()),
        parser_(source_) {}

  void connected(const Connected& connection) override {
    redirects_.reached(connection.reach);
    parser_ = HeadParser(source_);
    document.links.clear();
    document.digests.clear();
  }

  void header(std::string_view line) override {
    if (complete_) return;
    note(line);
    complete_ = parser_.feed(line);
    if (complete_ && accepted() && !parser_.head().content_encoding.empty())
      throw Error(refused_coding(parser_.head(), source_));
  }

  bool body(std::span<const std::byte> bytes) override {
    if (!accepted()) return false;
    if (bytes.size() > question_.size_max - document.body.size()) {
      throw Error(
          FailureKind::invalid,
          fmt::format("cannot read {}: the answer is longer than {}", source_, format_bytes(question_.size_max)),
          "a listing must be smaller: name a part of what is there");
    }
    document.body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return true;
  }

  // The URL to go on at; nullopt: the document is whole.
  std::optional<std::string> finish(const std::optional<Failure>& failure) {
    if (complete_ && !accepted()) return refused();
    if (failure) throw Error(*failure);
    if (!complete_) throw Error(FailureKind::network, fmt::format("cannot read {}: the response has no head", source_));
    const auto length = parser_.head().content_length;
    if (length && document.body.size() != *length && question_.method != "HEAD") {
      throw Error(FailureKind::network, fmt::format("cannot read {}: truncated: {} of {} bytes came", source_,
                                                    document.body.size(), *length));
    }
    document.status = parser_.head().status;
    document.content_type = parser_.head().content_type;
    document.etag = parser_.head().etag;
    document.digests = parser_.head().digests;
    compare_body();
    return std::nullopt;
  }

  Document document;

 private:
  // A document is believed as it comes: by what its own head says, at least, it must be whole.
  void compare_body() const {
    const ResponseHead& head = parser_.head();
    if (question_.method == "HEAD" || head.status != 200 || !head.content_encoding.empty()) return;
    for (const std::string* said : {&head.digests, &head.content_digests}) {
      ChecksumSet sums(parse_digests(*said));
      sums.update(std::as_bytes(std::span(document.body)));
      (void)sums.finish_and_compare(source_, SaidBy::source);
    }
  }

  bool accepted() const {
    return complete_ && std::ranges::find(question_.accept, parser_.head().status) != question_.accept.end();
  }

  std::optional<std::string> refused() const {
    const ReadRequest plain{.url = question_.url, .offset = 0, .length = std::nullopt, .expected = {}};
    const AnswerVerdict verdict = judge(plain, parser_.head(), source_, std::time(nullptr));
    if (verdict.action == AnswerVerdict::Action::redirect) return parser_.head().location;
    if (verdict.action == AnswerVerdict::Action::refuse) {
      throw Error(refused_access(verdict.failure, parser_.head().status, question_.url, redirects_.current(),
                                 question_.access_hint));
    }
    throw Error(FailureKind::unavailable,
                fmt::format("cannot read {}: HTTP {} is no answer to that", source_, parser_.head().status));
  }

  void note(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == line.npos) return;
    const std::string name = to_lower(line.substr(0, colon));
    const std::string value(trim(line.substr(colon + 1)));
    if (name == "link" && document.links.size() < fields_max) document.links.push_back(value);
    if (name == "www-authenticate") document.authenticate = value;
  }

  const Question& question_;
  Redirects& redirects_;
  std::string source_;
  HeadParser parser_;
  bool complete_ = false;
};

}  // namespace

Document ask(Transport& transport, const Question& question, Traffic& traffic, std::stop_token stop) {
  Redirects redirects(question.url);
  std::vector<std::string> cookies;
  for (;;) {
    Hop hop(question, redirects);
    TransferRequest transfer{.url = redirects.current(), .headers = question.headers};
    const auto had = cookies;
    transfer.cookies = &cookies;
    transfer.headers.emplace_back("Accept-Encoding: identity");
    if (redirects.current().origin() == question.url.origin()) {
      for (const auto& line : question.private_headers) transfer.headers.push_back(line);
      const auto authorization =
          question.private_headers.empty() ? transport.authorization(question.url) : std::nullopt;
      if (authorization) transfer.headers.emplace_back(authorization->reveal());
    }
    transfer.method = question.method;
    transfer.body = question.body;
    const auto failure = transport.perform(transfer, hop, traffic, stop);
    const auto location = hop.finish(failure);
    if (!location) {
      hop.document.reach = redirects.reach();
      return std::move(hop.document);
    }
    redirects.follow(*location, cookies != had);
  }
}

}  // namespace sabath
