// One SFTP conversation: reads ranges of files, many blocks at a time, so that a range costs one round trip however far
// the server is. It keeps the last file open, because the next read is likely to be of the same one.
//
// Why not libssh2's own SFTP: it asks for up to four times the buffer beyond what was wanted, and needs four round
// trips for one range. One thread at a time. Throws Error; after that, or while idle() is false, it can only be let go.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sabath/error.h"
#include "sabath/fetcher.h"
#include "sftp/stream.h"
#include "sftp/wire.h"

namespace sabath::sftp {

class Client {
 public:
  Client(std::unique_ptr<Stream> stream, const Waiter& waiter);

  class Listener {
   public:
    virtual ~Listener() = default;
    [[nodiscard]] virtual bool expects(const Attributes& attributes) const = 0;  // this version and no other
    virtual void begin(const Attributes& attributes) = 0;      // once; throws if this is not what was wanted
    virtual void write(std::span<const std::byte> bytes) = 0;  // in order
  };
  // The bytes [offset, offset + length) of `path`, cut at the end of the file; the listener refuses an offset beyond
  // it.
  void read(const std::string& path, std::uint64_t offset, std::optional<std::uint64_t> length, Listener& listener,
            Traffic& traffic, const Waiter& waiter);

  [[nodiscard]] bool idle() const noexcept { return replies_due_ == 0 && blocks_.empty(); }
  [[nodiscard]] bool heard_anything() const noexcept { return heard_; }  // of the current read

 private:
  static constexpr std::uint64_t in_flight_max = 4 * 1024 * 1024;  // bytes asked for and not yet delivered

  struct File {
    std::string path, handle;
    Attributes attributes;
  };
  struct Block {  // asked for; what came before its turn is kept
    std::uint32_t id = 0;
    std::uint64_t offset = 0;
    std::uint32_t missing = 0;
    std::vector<std::byte> early;
  };
  struct Packet {
    Type type{};
    std::uint32_t id = 0;
    std::span<const std::byte> body;  // valid until the next one
  };

  [[nodiscard]] std::uint32_t new_request();
  void flush();
  void read_exactly(std::span<std::byte> bytes);
  std::span<const std::byte> read_packet(Type& type);
  [[nodiscard]] Packet next_packet();
  [[nodiscard]] Packet await(std::uint32_t id);  // blocks that come meanwhile are kept

  [[nodiscard]] bool reuse(const std::string& path);
  void open(const std::string& path);
  void plan(std::uint64_t offset, std::optional<std::uint64_t> length);
  void ask_for_blocks();
  void forget_blocks();
  void accept(const Packet& packet, Listener* listener);
  void deliver_early(Listener& listener);
  void transfer(Listener& listener);
  [[nodiscard]] Attributes attributes_of(const Packet& packet) const;
  [[nodiscard]] std::string handle_of(const Packet& packet) const;
  [[noreturn]] void fail(FailureKind kind, const std::string& why, std::string hint = {}) const;
  [[noreturn]] void fail_status(const Packet& packet) const;
  template <typename F>
  auto understood(F&& parse) const;

  std::unique_ptr<Stream> stream_;
  const Waiter* waiter_;  // of the current read
  Traffic* traffic_ = nullptr;
  std::uint32_t block_size_ = block_size_plain;
  std::uint32_t last_id_ = 0;
  std::uint64_t replies_due_ = 0, in_flight_ = 0, next_ = 0, end_ = 0;
  bool heard_ = false;
  std::optional<std::uint32_t> closing_;  // the reply that no caller waits for
  std::optional<File> file_;
  std::deque<Block> blocks_;
  Bytes out_;
  std::vector<std::byte> packet_;
};

}  // namespace sabath::sftp
