#include "sftp/wire.h"

#include "sabath/error.h"

namespace sabath::sftp {
namespace {

constexpr std::uint32_t handle_size_max = 256;  // draft, section 6.2

void put32(Bytes& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::byte>(value >> shift));
}

void put64(Bytes& out, std::uint64_t value) {
  put32(out, static_cast<std::uint32_t>(value >> 32));
  put32(out, static_cast<std::uint32_t>(value));
}

void put_text(Bytes& out, std::string_view text) {
  put32(out, static_cast<std::uint32_t>(text.size()));
  const auto bytes = std::as_bytes(std::span(text));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// Length, type, id and one text: the front of every request; `more` bytes follow.
void put_front(Bytes& out, Type type, std::uint32_t id, std::string_view text, std::size_t more) {
  put32(out, static_cast<std::uint32_t>(1 + 4 + 4 + text.size() + more));
  out.push_back(static_cast<std::byte>(type));
  put32(out, id);
  put_text(out, text);
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }

  std::uint32_t take32() {
    const std::uint32_t value = parse_uint32(bytes_);
    bytes_ = bytes_.subspan(4);
    return value;
  }
  std::uint64_t take64() {
    const std::uint64_t high = take32();
    return high << 32 | take32();
  }
  std::string_view take_text() {
    const std::uint32_t length = take32();
    if (length > bytes_.size()) fail();
    const auto text = bytes_.first(length);
    bytes_ = bytes_.subspan(length);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }

  [[noreturn]] static void fail() {
    throw Error(FailureKind::unavailable, "the server does not speak SFTP: a packet ends too early");
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace

std::uint32_t parse_uint32(std::span<const std::byte> bytes) {
  if (bytes.size() < 4) Reader::fail();
  std::uint32_t value = 0;
  for (const std::byte byte : bytes.first(4)) value = value << 8 | std::to_integer<std::uint32_t>(byte);
  return value;
}

void put_init(Bytes& out) {
  put32(out, 5);
  out.push_back(static_cast<std::byte>(Type::init));
  put32(out, 3);
}

void put_stat(Bytes& out, std::uint32_t id, std::string_view path) { put_front(out, Type::stat, id, path, 0); }

void put_open(Bytes& out, std::uint32_t id, std::string_view path) {
  put_front(out, Type::open, id, path, 8);
  put32(out, 1);  // for reading
  put32(out, 0);  // no attributes
}

void put_fstat(Bytes& out, std::uint32_t id, std::string_view handle) { put_front(out, Type::fstat, id, handle, 0); }
void put_close(Bytes& out, std::uint32_t id, std::string_view handle) { put_front(out, Type::close, id, handle, 0); }

void put_read(Bytes& out, std::uint32_t id, std::string_view handle, std::uint64_t offset, std::uint32_t length) {
  put_front(out, Type::read, id, handle, 12);
  put64(out, offset);
  put32(out, length);
}

Attributes parse_attributes(std::span<const std::byte> body) {
  Reader reader(body);
  Attributes attributes;
  const std::uint32_t flags = reader.take32();
  if (flags & 1) attributes.size = reader.take64();
  if (flags & 2) reader.take64();  // owner and group
  if (flags & 4) attributes.permissions = reader.take32();
  if (flags & 8) {
    reader.take32();  // of the last access
    attributes.modified = reader.take32();
  }
  return attributes;
}

StatusReply parse_status(std::span<const std::byte> body) {
  Reader reader(body);
  StatusReply reply{.code = reader.take32(), .message = {}};
  if (!reader.at_end()) reply.message = reader.take_text();  // old servers say no words
  return reply;
}

std::string parse_handle(std::span<const std::byte> body) {
  const std::string_view handle = Reader(body).take_text();
  if (handle.size() > handle_size_max) Reader::fail();
  return std::string(handle);
}

std::uint32_t parse_version(std::span<const std::byte> body) {
  Reader reader(body);
  if (const std::uint32_t version = reader.take32(); version < 3) {
    throw Error(FailureKind::unavailable,
                "the server speaks SFTP version " + std::to_string(version) + ", 3 is needed");
  }
  std::uint32_t block_size = block_size_plain;
  while (!reader.at_end()) {
    const std::string_view name = reader.take_text();
    reader.take_text();
    if (name == "limits@openssh.com") block_size = block_size_large;
  }
  return block_size;
}

}  // namespace sabath::sftp
