// Values as bytes, from one process to another of the same program and build: no versions, only our byte order. Pure;
// any thread. Parcel::Reader throws Error{internal} instead of passing the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sabath/error.h"

namespace sabath {

class Parcel {
 public:
  Parcel& add(std::uint64_t value);
  Parcel& add(std::string_view text);
  Parcel& add_raw(std::string_view bytes);  // of a length that the reader knows
  Parcel& add(const Failure& failure);
  Parcel& add(const std::optional<Failure>& failure);
  [[nodiscard]] std::string take() { return std::move(bytes_); }

  class Reader {
   public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}
    [[nodiscard]] bool at_end() const noexcept { return bytes_.empty(); }
    [[nodiscard]] std::uint64_t number();
    [[nodiscard]] bool flag() { return number() != 0; }
    [[nodiscard]] std::string text();
    [[nodiscard]] std::string_view raw(std::size_t length);  // views the reader's bytes
    [[nodiscard]] std::optional<Failure> failure();

   private:
    std::string_view bytes_;
  };

 private:
  std::string bytes_;
};

}  // namespace sabath
