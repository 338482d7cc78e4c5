// A document in memory, of at most `size_max` bytes: more are Error{invalid}. One thread.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "sabath/error.h"
#include "sabath/fetcher.h"

namespace sabath {

class TextSink final : public Sink {
 public:
  // `name`: of the document, for the message.
  TextSink(std::string name, std::size_t size_max) : name_(std::move(name)), size_max_(size_max) {}
  void begin(const ContentInfo&) override { text.clear(); }
  void write(std::span<const std::byte> bytes) override {
    if (bytes.size() > size_max_ - text.size())
      throw Error(FailureKind::invalid, fmt::format("{} is longer than {} bytes", name_, size_max_));
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  std::string text;

 private:
  const std::string name_;
  const std::size_t size_max_;
};

}  // namespace sabath
