// One request to S3 and its answer: the head is judged as any of HTTP, and the body of a refusal is read for its code.
// Owned by one read; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "curl/transport.h"
#include "http/response_head.h"
#include "http/verdict.h"
#include "s3/refusal.h"
#include "sabath/fetcher.h"

namespace sabath::s3 {

class Exchange : public Receiver {
 public:
  Exchange(const ReadRequest& request, Sink& sink);
  void connecting() override { sink_.connecting(); }
  void connected(const Connected& connection) override;
  void header(std::string_view line) override;
  bool body(std::span<const std::byte> bytes) override;

  // How it ended, given what the transport says. nullopt: the sink has everything. Otherwise the region in which the
  // bucket is, to be asked there; throws Error.
  [[nodiscard]] std::optional<std::string> finish(const std::optional<Failure>& transport_failure,
                                                  const std::string& asked_region, bool is_signed) const;

 private:
  [[nodiscard]] bool delivering() const { return verdict_ && verdict_->action == AnswerVerdict::Action::deliver; }
  [[noreturn]] void refuse(const Refusal& refusal, bool is_signed) const;

  const ReadRequest& request_;
  Sink& sink_;
  std::string source_;
  HeadParser parser_;
  std::optional<AnswerVerdict> verdict_;  // once the head is complete
  std::string refusal_;                   // the body, if it is none
  std::string region_;                    // x-amz-bucket-region
  std::optional<Reach> reach_;
  std::uint64_t received_ = 0, delivered_ = 0, limit_ = 0;
};

}  // namespace sabath::s3
