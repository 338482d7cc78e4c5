// Packets of the SSH File Transfer Protocol, version 3 (draft-ietf-secsh-filexfer-02): the packets that a reader of
// files sends, and may hear. Pure; parse_x throws Error{unavailable}, because a server that does not speak the protocol
// will not learn it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::sftp {

// Both sides must take the plain length: draft section 3. OpenSSH takes the large one, and limits@openssh.com says so.
constexpr std::uint32_t block_size_plain = 32'768, block_size_large = 261'120;
constexpr std::uint32_t packet_size_max = 264 * 1024;

enum class Type : std::uint8_t {
  init = 1,
  version = 2,
  open = 3,
  close = 4,
  read = 5,
  fstat = 8,
  stat = 17,
  status = 101,
  handle = 102,
  data = 103,
  attributes = 105,
};

enum class Status : std::uint32_t { ok = 0, eof = 1, no_such_file = 2, permission_denied = 3, failure = 4 };

// Requests, appended to what will be sent.
using Bytes = std::vector<std::byte>;
void put_init(Bytes& out);
void put_stat(Bytes& out, std::uint32_t id, std::string_view path);
void put_open(Bytes& out, std::uint32_t id, std::string_view path);  // for reading
void put_fstat(Bytes& out, std::uint32_t id, std::string_view handle);
void put_close(Bytes& out, std::uint32_t id, std::string_view handle);
void put_read(Bytes& out, std::uint32_t id, std::string_view handle, std::uint64_t offset, std::uint32_t length);

// The attributes of a file now. Its size and its time tell its versions apart.
struct Attributes {
  std::optional<std::uint64_t> size;
  std::optional<std::uint32_t> modified;     // seconds since 1970
  std::optional<std::uint32_t> permissions;  // with the type of file, as st_mode
  friend bool operator==(const Attributes&, const Attributes&) = default;
};

struct StatusReply {
  std::uint32_t code = 0;
  std::string message;  // the server's words: escape before showing
};

// Bodies, after the packet's length, type and id.
[[nodiscard]] Attributes parse_attributes(std::span<const std::byte> body);
[[nodiscard]] StatusReply parse_status(std::span<const std::byte> body);
[[nodiscard]] std::string parse_handle(std::span<const std::byte> body);
// The body of a version packet, which has no id: the length of blocks to ask for.
[[nodiscard]] std::uint32_t parse_version(std::span<const std::byte> body);

[[nodiscard]] std::uint32_t parse_uint32(std::span<const std::byte> bytes);  // of the first four

}  // namespace sabath::sftp
