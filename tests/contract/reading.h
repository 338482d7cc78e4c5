// One read through a fetcher and all that came of it, as a value that tests compare.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "sabath/error.h"
#include "sabath/fetcher.h"

namespace sabath::test {

struct Reading {
  std::string bytes;
  ContentInfo info;
  int begins = 0;
  std::optional<Failure> failure;
  std::uint64_t requests = 0, traffic_bytes = 0;

  [[nodiscard]] std::optional<FailureKind> kind() const {
    return failure ? std::optional(failure->kind) : std::nullopt;
  }
  [[nodiscard]] std::string message() const { return failure ? failure->message + " / " + failure->hint : "success"; }
};

struct ReadOptions {
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length{};
  Validators expected{};
  std::function<void()> on_write{};  // called for each piece; may throw
  std::stop_token stop{};
  bool one_of_many = false;
};

// Errors of the fetcher become the reading's failure; other exceptions pass.
[[nodiscard]] Reading read(FetcherSet& fetchers, const std::string& url, const ReadOptions& options = {});

}  // namespace sabath::test
