// gzip (RFC 1952), zlib (RFC 1950) and raw deflate (RFC 1951) as bytes that pass, by zlib. Memory is zlib's window;
// nothing is bounded by what the packed bytes claim, so a caller bounds what it takes. One thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "formats/bytes.h"

namespace sabath {

// Packs what is written. Its header has no name and no time: the same bytes, level and zlib give the same file.
class GzipSink final : public ByteSink {
 public:
  GzipSink(ByteSink& to, int level);  // 1 to 9; `to` outlives it
  ~GzipSink() override;
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;
  void write(std::string_view bytes) override;
  void finish();  // the end of the stream; required

 private:
  void pass(std::string_view bytes, int flush);
  struct State;
  std::unique_ptr<State> state_;
};

// Unpacks. Of gzip several members may follow each other. Throws Error{invalid} where the bytes are damaged, and
// Error{content} where they end early, behind all that came out before; `name` is for these messages.
class InflateSource final : public ByteSource {
 public:
  enum class Form { gzip, zlib, deflate };
  InflateSource(ByteSource& from, Form form, std::string name);  // `from` outlives it
  ~InflateSource() override;
  InflateSource(const InflateSource&) = delete;
  InflateSource& operator=(const InflateSource&) = delete;
  [[nodiscard]] std::size_t read(std::span<char> into) override;

 private:
  bool refill();
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] bool is_gzip(std::string_view first_bytes);

}  // namespace sabath
