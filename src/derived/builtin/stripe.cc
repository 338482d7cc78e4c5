#include "builtin/stripe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "formats/crc32c.h"
#include "sabath/error.h"

namespace sabath::conversion {
namespace {

constexpr std::size_t stripe_buffer_bytes = 1 << 20;  // stays in the CPU's cache from the read to the write

}  // namespace

Stripe::Stripe(Pass pass)
    : pass_(std::move(pass)), buffer_(std::make_unique_for_overwrite<char[]>(stripe_buffer_bytes)) {}

void Stripe::add(std::string_view bytes) {
  while (!bytes.empty()) {
    if (used_ == stripe_buffer_bytes) flush();
    const std::size_t piece = std::min(bytes.size(), stripe_buffer_bytes - used_);
    std::memcpy(buffer_.get() + used_, bytes.data(), piece);
    used_ += piece;
    bytes.remove_prefix(piece);
  }
}

std::uint32_t Stripe::add_from(ByteSource& source, std::uint64_t length, std::uint32_t crc, std::string_view name) {
  while (length > 0) {
    if (used_ == stripe_buffer_bytes) flush();
    const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(length, stripe_buffer_bytes - used_));
    const std::size_t got = source.read({buffer_.get() + used_, piece});
    if (got == 0) throw Error(FailureKind::content, fmt::format("cannot convert {}: it ends early", name));
    crc = crc32c({buffer_.get() + used_, got}, crc);
    used_ += got;
    length -= got;
  }
  return crc;
}

void Stripe::flush() {
  if (used_ > 0) pass_({buffer_.get(), used_});
  used_ = 0;
}

}  // namespace sabath::conversion
