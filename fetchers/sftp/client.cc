#include "sftp/client.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "sabath/path.h"

namespace sabath::sftp {

template <typename F>
auto Client::understood(F&& parse) const {
  try {
    return parse();
  } catch (const Error& error) {
    fail(error.failure().kind, error.what());
  }
}

Client::Client(std::unique_ptr<Stream> stream, const Waiter& waiter)
    : stream_(std::move(stream)), waiter_(&waiter), packet_(packet_size_max) {
  put_init(out_);
  flush();
  Type type{};
  const auto body = read_packet(type);
  if (type != Type::version) fail(FailureKind::unavailable, "the server does not speak SFTP");
  block_size_ = understood([&] { return parse_version(body); });
}

void Client::read(const std::string& path, std::uint64_t offset, std::optional<std::uint64_t> length,
                  Listener& listener, Traffic& traffic, const Waiter& waiter) {
  waiter_ = &waiter;
  traffic_ = &traffic;
  heard_ = false;
  ++traffic.requests;
  const bool known = file_ && file_->path == path && listener.expects(file_->attributes);
  if (known) plan(offset, length);
  if (!known || !reuse(path)) open(path);
  listener.begin(file_->attributes);
  plan(offset, length);
  transfer(listener);
}

// Asks anew what the path is and for the first blocks at once: one round trip. False: it is another file by now.
bool Client::reuse(const std::string& path) {
  const std::uint32_t id = new_request();
  put_stat(out_, id, path);
  ask_for_blocks();
  flush();
  if (attributes_of(await(id)) == file_->attributes) return true;
  forget_blocks();
  return false;
}

// Asks for the attributes of the path and a handle to it in one round trip. A replacement in between shows at the end.
void Client::open(const std::string& path) {
  if (file_) {
    closing_ = new_request();
    put_close(out_, *closing_, file_->handle);
    file_.reset();
  }
  const std::uint32_t stat_id = new_request();
  put_stat(out_, stat_id, path);
  const std::uint32_t open_id = new_request();
  put_open(out_, open_id, path);
  flush();
  File file{.path = path, .handle = {}, .attributes = {}};
  std::optional<Failure> refused;  // thrown when both are answered, so that this conversation can go on
  for (int answers = 0; answers < 2; ++answers) {
    const Packet packet = next_packet();
    try {
      if (packet.id == stat_id) {
        file.attributes = attributes_of(packet);
      } else if (packet.id == open_id) {
        file.handle = handle_of(packet);
      } else {
        fail(FailureKind::unavailable, "the server answered what was not asked");
      }
    } catch (const Error& error) {
      if (!refused) refused = error.failure();
    }
    if (file.attributes.permissions && !S_ISREG(*file.attributes.permissions)) {  // opening it may take for ever
      fail(FailureKind::unavailable, "not a regular file", "name a file");
    }
  }
  if (refused) throw Error(*refused);
  if (!file.attributes.size) fail(FailureKind::unavailable, "the server does not say its size");
  file_ = std::move(file);
  end_ = next_ = 0;
}

void Client::plan(std::uint64_t offset, std::optional<std::uint64_t> length) {
  if (!blocks_.empty()) return;  // asked for ahead, and still right
  const std::uint64_t size = *file_->attributes.size;
  next_ = std::min(offset, size);
  end_ = next_ + std::min(length.value_or(UINT64_MAX), size - next_);
}

void Client::ask_for_blocks() {
  while (next_ < end_ && in_flight_ < in_flight_max) {
    const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(block_size_, end_ - next_));
    Block block{.id = new_request(), .offset = next_, .missing = length, .early = {}};
    put_read(out_, block.id, file_->handle, block.offset, length);
    blocks_.push_back(std::move(block));
    next_ += length;
    in_flight_ += length;
  }
}

// The file is another now: the answers to requests for its blocks are heard and thrown away.
void Client::forget_blocks() {
  while (std::any_of(blocks_.begin(), blocks_.end(), [](const Block& block) { return block.missing > 0; })) {
    const Packet packet = next_packet();
    const auto block = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& b) { return b.id == packet.id; });
    if (block == blocks_.end()) fail(FailureKind::unavailable, "the server answered what was not asked");
    if (packet.type == Type::data) traffic_->bytes += packet.body.size() - std::min<std::size_t>(packet.body.size(), 4);
    block->missing = 0;
  }
  blocks_.clear();
  in_flight_ = 0;
}

// One answer for a block. Without a listener, or before its turn, its bytes are kept.
void Client::accept(const Packet& packet, Listener* listener) {
  const auto block =
      std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& b) { return b.id == packet.id && b.missing > 0; });
  if (block == blocks_.end()) fail(FailureKind::unavailable, "the server answered what was not asked");
  if (packet.type != Type::data) {
    const auto status = understood([&] { return parse_status(packet.body); });
    if (status.code == static_cast<std::uint32_t>(Status::eof)) {
      fail(FailureKind::changed, fmt::format("the file ends before byte {} now", block->offset + block->missing));
    }
    fail_status(packet);
  }
  const std::uint32_t length = understood([&] { return parse_uint32(packet.body); });
  const auto bytes = packet.body.subspan(4);
  if (length != bytes.size() || length == 0 || length > block->missing) {
    fail(FailureKind::unavailable, "the server does not speak SFTP: a block of a wrong length");
  }
  traffic_->bytes += length;
  if (listener != nullptr && block == blocks_.begin()) {
    in_flight_ -= length;
    listener->write(bytes);
  } else {
    block->early.insert(block->early.end(), bytes.begin(), bytes.end());
  }
  block->offset += length;
  block->missing -= length;
  if (block->missing == 0) return;
  block_size_ = std::min(block_size_, std::max(length, block_size_plain));  // it gives no more at once
  block->id = new_request();
  put_read(out_, block->id, file_->handle, block->offset, block->missing);
}

// Blocks that came before their turn and whose turn it is.
void Client::deliver_early(Listener& listener) {
  while (!blocks_.empty()) {
    Block& front = blocks_.front();
    in_flight_ -= front.early.size();
    if (!front.early.empty()) listener.write(front.early);
    front.early = {};
    if (front.missing > 0) return;
    blocks_.pop_front();
  }
}

void Client::transfer(Listener& listener) {
  if (next_ == end_ && blocks_.empty()) return;
  std::uint32_t check = 0;  // the last question: is it still the file that was begun?
  for (bool unchanged = false;;) {
    deliver_early(listener);
    if (blocks_.empty() && unchanged) return;
    ask_for_blocks();
    if (next_ == end_ && check == 0) {
      check = new_request();
      put_fstat(out_, check, file_->handle);
    }
    flush();
    const Packet packet = next_packet();
    if (packet.id != check) {
      accept(packet, &listener);
      continue;
    }
    unchanged = attributes_of(packet) == file_->attributes;
    if (!unchanged) fail(FailureKind::changed, "the file changed while it was read");
  }
}

std::uint32_t Client::new_request() {
  ++replies_due_;
  return ++last_id_ == 0 ? ++last_id_ : last_id_;
}

void Client::flush() {
  if (out_.empty()) return;
  stream_->write_all(out_, *waiter_);
  out_.clear();
}

void Client::read_exactly(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t got = stream_->read_some(bytes, *waiter_);
    if (got == 0) fail(FailureKind::network, "the server closed the connection");
    heard_ = true;
    bytes = bytes.subspan(got);
  }
}

std::span<const std::byte> Client::read_packet(Type& type) {
  std::array<std::byte, 5> front{};
  read_exactly(front);
  const std::uint32_t length = parse_uint32(front);
  if (length < 1 || length - 1 > packet_.size()) {
    fail(FailureKind::unavailable, "the server does not speak SFTP: a packet has an impossible length",
         "a login script of this account that prints something has the same effect");
  }
  type = static_cast<Type>(front[4]);
  const auto body = std::span(packet_).first(length - 1);
  read_exactly(body);
  return body;
}

Client::Packet Client::next_packet() {
  for (;;) {
    Packet packet;
    const auto rest = read_packet(packet.type);
    packet.id = understood([&] { return parse_uint32(rest); });
    packet.body = rest.subspan(4);
    if (replies_due_ == 0) fail(FailureKind::unavailable, "the server answered what was not asked");
    --replies_due_;
    if (packet.id != closing_) return packet;
    closing_.reset();
  }
}

Client::Packet Client::await(std::uint32_t id) {
  for (;;) {
    const Packet packet = next_packet();
    if (packet.id == id) return packet;
    accept(packet, nullptr);
    flush();
  }
}

Attributes Client::attributes_of(const Packet& packet) const {
  if (packet.type != Type::attributes) fail_status(packet);
  return understood([&] { return parse_attributes(packet.body); });
}

std::string Client::handle_of(const Packet& packet) const {
  if (packet.type != Type::handle) fail_status(packet);
  return understood([&] { return parse_handle(packet.body); });
}

void Client::fail(FailureKind kind, const std::string& why, std::string hint) const {
  throw Error(kind, fmt::format("{}: {}", waiter_->what(), why), std::move(hint));
}

void Client::fail_status(const Packet& packet) const {
  if (packet.type != Type::status) fail(FailureKind::unavailable, "the server answered with an unexpected packet");
  const StatusReply reply = understood([&] { return parse_status(packet.body); });
  const std::string words = reply.message.empty() ? fmt::format("SFTP error {}", reply.code) : printable(reply.message);
  switch (static_cast<Status>(reply.code)) {
    case Status::no_such_file:
      fail(FailureKind::unavailable, words, "check the path, or use another mirror");
    case Status::permission_denied:
      fail(FailureKind::access, words, "ask the file's owner for permission, or log in as another user");
    case Status::failure:
      fail(FailureKind::unavailable, words, "the server did not say why; a directory cannot be read");
    default:
      fail(FailureKind::network, words);
  }
}

}  // namespace sabath::sftp
