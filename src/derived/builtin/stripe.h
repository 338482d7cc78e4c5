// A part of a file in the making, filled from its front: bytes are gathered and passed on in large pieces. Data of the
// input are read into that buffer and copied nowhere else. One thread at a time; several stripes of one file may be
// filled at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "formats/bytes.h"

namespace sabath::conversion {

class Stripe {
 public:
  using Pass = std::function<void(std::string_view bytes)>;
  explicit Stripe(Pass pass);

  void add(std::string_view bytes);
  // Bytes of `source`; returns their CRC-32C behind `crc`. Throws Error{content} if there are fewer.
  [[nodiscard]] std::uint32_t add_from(ByteSource& source, std::uint64_t length, std::uint32_t crc,
                                       std::string_view name);
  void flush();  // required at the end

 private:
  Pass pass_;
  std::unique_ptr<char[]> buffer_;
  std::size_t used_ = 0;
};

}  // namespace sabath::conversion
