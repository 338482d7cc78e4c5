#include "manifest/wire.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/wording.h"
#include "sabath/error.h"

namespace sabath::wire {

void refuse(std::string what) {
  throw Error(
      FailureKind::invalid, "bad manifest: " + std::move(what),
      fmt::format("it is damaged or was not made by this format's rules: get it again, from another source if there is "
                  "one; `{}` puts a damaged one of the store aside",
                  verb_text("verify")));
}

void put_hash(std::string& out, const Sha256& hash) {
  out.append(reinterpret_cast<const char*>(hash.bytes().data()), Sha256::size);
}

void put_text(std::string& out, std::string_view text) {
  put<std::uint16_t>(out, static_cast<std::uint16_t>(text.size()));
  out.append(text);
}

void put_tag(std::string& out, std::string_view letters, std::uint8_t last) {
  out.append(letters);
  out.append(tag_size - 1 - letters.size(), '\0');
  out.push_back(static_cast<char>(last));
}

std::uint64_t guard(std::string_view record, std::uint64_t tag) { return xxh3_64(record) ^ tag; }

std::string_view Reader::take(std::size_t length) {
  if (length > bytes_.size()) refuse(fmt::format("{} bytes expected, {} left", length, bytes_.size()));
  const std::string_view taken = bytes_.substr(0, length);
  bytes_.remove_prefix(length);
  return taken;
}

Sha256 Reader::hash() {
  std::array<std::uint8_t, Sha256::size> raw{};
  std::memcpy(raw.data(), take(raw.size()).data(), raw.size());
  return Sha256(raw);
}

std::string_view Reader::text(std::size_t length_max) {
  const std::size_t length = get<std::uint16_t>();
  if (length > length_max) refuse(fmt::format("a text of {} bytes where at most {} are allowed", length, length_max));
  return take(length);
}

std::uint8_t Reader::tag(std::string_view letters) {
  std::string expected;
  put_tag(expected, letters, 0);
  const std::string_view found = take(tag_size);
  if (found.substr(0, tag_size - 1) != std::string_view(expected).substr(0, tag_size - 1)) {
    refuse(fmt::format("no \"{}\" where it must be", letters));
  }
  return static_cast<std::uint8_t>(found.back());
}

}  // namespace sabath::wire
