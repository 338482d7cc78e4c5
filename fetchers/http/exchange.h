// One request and its response: hears the head, decides once, and hands the body on only if it answers the request.
// Owned by one hop of one read; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "curl/transport.h"
#include "http/redirects.h"
#include "http/response_head.h"
#include "http/verdict.h"
#include "sabath/fetcher.h"

namespace sabath {

class Exchange : public Receiver {
 public:
  // `access_hint`: what to do where the first of all refuses access; empty: what HTTP says. Outlives this.
  // `by_etag`: of a hub, whose ETags are hashes: what it has said so far, over all hops of one read; nullptr: no hub.
  Exchange(const ReadRequest& request, Redirects& redirects, Sink& sink, std::string_view access_hint = {},
           Checksums* by_etag = nullptr);
  void connecting() override { sink_.connecting(); }
  void connected(const Connected& connection) override;
  void header(std::string_view line) override;
  bool body(std::span<const std::byte> bytes) override;

  // How it ended, given what the transport says. nullopt: the sink has everything. A redirect to follow otherwise;
  // throws Error.
  [[nodiscard]] std::optional<std::string> finish(const std::optional<Failure>& transport_failure) const;

 private:
  [[nodiscard]] bool delivering() const { return verdict_ && verdict_->action == AnswerVerdict::Action::deliver; }
  [[nodiscard]] bool worth_draining() const;
  [[noreturn]] void refuse() const;
  void note_etag();

  const ReadRequest& request_;
  Redirects& redirects_;
  Sink& sink_;
  std::string_view access_hint_;
  Checksums* by_etag_;
  std::string source_;
  HeadParser parser_;
  std::optional<AnswerVerdict> verdict_;  // once the head is complete
  std::uint64_t received_ = 0;            // bytes of the body
  std::uint64_t delivered_ = 0;           // bytes that the sink has got
  std::uint64_t limit_ = 0;               // bytes that the sink may get
};

}  // namespace sabath
