// The SFTP conversation against a server in memory that answers by the book, out of order, too little, or nonsense.
#include "sftp/client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "sabath/error.h"

namespace sabath::sftp {
namespace {

// What each request is answered with: a small real server of one file.
class MemoryServer : public Stream {
 public:
  struct Behaviour {
    std::size_t block_max = SIZE_MAX;  // bytes of one answer
    bool backwards = false;            // the answers of each batch in reverse
    std::string file = std::string(3'000'000, 'x');
    std::string raw{};  // sent instead of the greeting
  };
  explicit MemoryServer(Behaviour behaviour) : behaviour_(std::move(behaviour)) {
    for (std::size_t i = 0; i < behaviour_.file.size(); ++i) behaviour_.file[i] = static_cast<char>(i * 31 % 251);
  }

  std::size_t read_some(std::span<std::byte> bytes, const Waiter&) override {
    if (behaviour_.backwards) std::reverse(answers_.begin(), answers_.end());
    while (!answers_.empty()) {
      out_ += answers_.front();
      answers_.pop_front();
    }
    const std::size_t take = std::min(bytes.size(), out_.size());
    std::memcpy(bytes.data(), out_.data(), take);
    out_.erase(0, take);
    return take;
  }

  void write_all(std::span<const std::byte> bytes, const Waiter&) override {
    in_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    while (in_.size() >= 4 && in_.size() >= 4 + number(in_, 0)) {
      const std::size_t length = number(in_, 0);
      answer(in_.substr(4, length));
      in_.erase(0, 4 + length);
    }
  }

 private:
  static std::uint32_t number(const std::string& text, std::size_t at) {
    return parse_uint32(std::as_bytes(std::span(text)).subspan(at, 4));
  }
  static std::string word(std::uint64_t value) {
    std::string text;
    for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
    return text;
  }
  void send(char type, const std::string& body) { answers_.push_back(word(1 + body.size()) + type + body); }

  void answer(const std::string& request) {
    const auto type = static_cast<Type>(request[0]);
    if (type == Type::init) {
      if (behaviour_.raw.empty()) return send(2, word(3));
      out_ = behaviour_.raw;
      return;
    }
    const std::string id = request.substr(1, 4);
    if (type == Type::open) return send(102, id + word(1) + "h");
    if (type == Type::close) return send(101, id + word(0));
    if (type == Type::stat || type == Type::fstat)
      return send(105, id + word(1) + word(0) + word(behaviour_.file.size()));
    const std::size_t offset = number(request, 14), length = number(request, 18);  // of a handle of one byte
    const std::string bytes = behaviour_.file.substr(offset, std::min(length, behaviour_.block_max));
    send(103, id + word(bytes.size()) + bytes);
  }

  Behaviour behaviour_;
  std::string in_, out_;
  std::deque<std::string> answers_;
};

class Collected : public Client::Listener {
 public:
  bool expects(const Attributes&) const override { return again; }
  void begin(const Attributes&) override {}
  void write(std::span<const std::byte> more) override {
    bytes.append(reinterpret_cast<const char*>(more.data()), more.size());
  }
  bool again = false;
  std::string bytes;
};

std::string expected(std::size_t offset, std::size_t length) {
  std::string bytes(length, '\0');
  for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<char>((offset + i) * 31 % 251);
  return bytes;
}

TEST(SftpClient, RangesFromEveryKindOfServer) {
  for (const bool backwards : {false, true}) {
    for (const std::size_t block_max : {SIZE_MAX, std::size_t{10'000}}) {
      const Waiter waiter("cannot read it", {}, std::chrono::seconds(1));
      Client client(
          std::make_unique<MemoryServer>(MemoryServer::Behaviour{.block_max = block_max, .backwards = backwards}),
          waiter);
      Traffic traffic;
      std::uint64_t wanted = 0;
      for (const auto& [offset, length] :
           {std::pair{0u, 3'000'000u}, {1'000'001u, 1'500'000u}, {2'999'999u, 9u}, {5u, 0u}}) {
        Collected listener;
        listener.again = offset == 1'000'001u;
        client.read("f", offset, length, listener, traffic, waiter);
        const std::size_t cut = std::min<std::size_t>(length, 3'000'000 - offset);
        EXPECT_TRUE(listener.bytes == expected(offset, cut)) << offset << ' ' << listener.bytes.size();
        EXPECT_TRUE(client.idle() || length == 0);  // the answer to the last CLOSE may still be on its way
        wanted += cut;
      }
      EXPECT_EQ(traffic.bytes, wanted);
    }
  }
}

TEST(SftpClient, NonsenseIsRefused) {
  const std::string cases[] = {"Welcome to the lake!",
                               std::string("\0\0\0\1\2", 5),
                               std::string("\0\0\0\0\2", 5),
                               std::string("\0\0\0\5\2\0\0\0\2", 9),
                               std::string("\0\0\0\5\7\0\0\0\3", 9),
                               std::string("\0\0\0\11\2\0\0\0\3\0\0\0\377", 13),
                               ""};
  for (const std::string& raw : cases) {
    const Waiter waiter("cannot read it", {}, std::chrono::seconds(1));
    MemoryServer::Behaviour behaviour{.file = "", .raw = raw.empty() ? std::string("\0", 1) : raw};
    try {
      Client client(std::make_unique<MemoryServer>(behaviour), waiter);
      ADD_FAILURE() << "accepted: " << raw;
    } catch (const Error& error) {
      EXPECT_NE(error.failure().kind, FailureKind::internal);
      EXPECT_TRUE(error.failure().message.starts_with("cannot read it: ")) << error.failure().message;
    }
  }
}

}  // namespace
}  // namespace sabath::sftp
