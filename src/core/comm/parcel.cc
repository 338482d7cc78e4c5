#include "comm/parcel.h"

#include <cstring>

namespace sabath {

Parcel& Parcel::add(std::uint64_t value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes_.append(raw, sizeof value);
  return *this;
}

Parcel& Parcel::add_raw(std::string_view bytes) {
  bytes_.append(bytes);
  return *this;
}

Parcel& Parcel::add(std::string_view text) { return add(std::uint64_t{text.size()}).add_raw(text); }

Parcel& Parcel::add(const Failure& failure) {
  add(std::uint64_t{1}).add(static_cast<std::uint64_t>(failure.kind)).add(failure.message).add(failure.hint);
  return add(failure.retry_after ? static_cast<std::uint64_t>(failure.retry_after->count()) + 1 : std::uint64_t{0});
}

Parcel& Parcel::add(const std::optional<Failure>& failure) { return failure ? add(*failure) : add(std::uint64_t{0}); }

std::string_view Parcel::Reader::raw(std::size_t length) {
  if (length > bytes_.size()) throw Error(FailureKind::internal, "a message between processes ends early");
  const std::string_view taken = bytes_.substr(0, length);
  bytes_.remove_prefix(length);
  return taken;
}

std::uint64_t Parcel::Reader::number() {
  std::uint64_t value = 0;
  std::memcpy(&value, raw(sizeof value).data(), sizeof value);
  return value;
}

std::string Parcel::Reader::text() {
  const std::uint64_t length = number();
  return std::string(raw(length));
}

std::optional<Failure> Parcel::Reader::failure() {
  if (!flag()) return std::nullopt;
  Failure failure;
  const std::uint64_t kind = number();
  if (kind > static_cast<std::uint64_t>(FailureKind::internal)) {
    throw Error(FailureKind::internal, "a message between processes tells of a failure that there is not");
  }
  failure.kind = static_cast<FailureKind>(kind);
  failure.message = text();
  failure.hint = text();
  if (const std::uint64_t pause = number(); pause > 0) {
    failure.retry_after = std::chrono::milliseconds(static_cast<std::int64_t>(pause - 1));
  }
  return failure;
}

}  // namespace sabath
