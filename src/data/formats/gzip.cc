#include "formats/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <vector>

#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t packed_buffer_bytes = 64 << 10;
constexpr int gzip_window = 15 + 16, zlib_window = 15, raw_window = -15;  // zlib.h, deflateInit2

Bytef* bytef(char* text) { return reinterpret_cast<Bytef*>(text); }
uInt bounded(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

}  // namespace

struct GzipSink::State {
  explicit State(ByteSink& sink) : to(sink), buffer(packed_buffer_bytes) {}
  ByteSink& to;
  std::vector<char> buffer;
  z_stream stream{};
};

GzipSink::GzipSink(ByteSink& to, int level) : state_(std::make_unique<State>(to)) {
  if (::deflateInit2(&state_->stream, level, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
}

GzipSink::~GzipSink() { ::deflateEnd(&state_->stream); }

void GzipSink::pass(std::string_view bytes, int flush) {
  z_stream& stream = state_->stream;
  stream.next_in = bytef(const_cast<char*>(bytes.data()));  // zlib does not write there
  stream.avail_in = bounded(bytes.size());
  int state = Z_OK;
  do {
    stream.next_out = bytef(state_->buffer.data());
    stream.avail_out = bounded(state_->buffer.size());
    state = ::deflate(&stream, flush);
    state_->to.write({state_->buffer.data(), state_->buffer.size() - stream.avail_out});
  } while (flush == Z_FINISH ? state != Z_STREAM_END : stream.avail_in > 0);
}

void GzipSink::write(std::string_view bytes) {
  constexpr std::size_t piece = 1 << 30;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) pass(bytes.substr(0, piece), Z_NO_FLUSH);
}

void GzipSink::finish() { pass({}, Z_FINISH); }

struct InflateSource::State {
  State(ByteSource& source, Form packed, std::string label)
      : from(source), form(packed), name(std::move(label)), buffer(packed_buffer_bytes) {}
  ByteSource& from;
  Form form;
  std::string name;
  std::vector<char> buffer;
  z_stream stream{};
  bool ended = false, between = false;  // between members
};

InflateSource::InflateSource(ByteSource& from, Form form, std::string name)
    : state_(std::make_unique<State>(from, form, std::move(name))) {
  const int window = form == Form::gzip ? gzip_window : form == Form::zlib ? zlib_window : raw_window;
  if (::inflateInit2(&state_->stream, window) != Z_OK) throw std::bad_alloc();
}

InflateSource::~InflateSource() { ::inflateEnd(&state_->stream); }

bool InflateSource::refill() {
  z_stream& stream = state_->stream;
  if (stream.avail_in > 0) return true;
  stream.next_in = bytef(state_->buffer.data());
  stream.avail_in = bounded(state_->from.read(state_->buffer));
  return stream.avail_in > 0;
}

std::size_t InflateSource::read(std::span<char> into) {
  z_stream& stream = state_->stream;
  stream.next_out = bytef(into.data());
  stream.avail_out = bounded(into.size());
  const uInt room = stream.avail_out;
  while (stream.avail_out == room && room > 0 && !state_->ended) {
    const bool more = refill();
    if (!more && state_->between) {
      state_->ended = true;
      break;
    }
    if (!more) {
      throw Error(FailureKind::content, fmt::format("cannot unpack {}: the packed bytes end early", state_->name),
                  "get the file again");
    }
    if (state_->between) {
      ::inflateReset(&stream);
      state_->between = false;
    }
    const int result = ::inflate(&stream, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      state_->between = state_->form == Form::gzip;
      state_->ended = state_->form != Form::gzip;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      if (stream.avail_out < room) break;  // zlib says it again
      throw Error(FailureKind::invalid,
                  fmt::format("cannot unpack {}: {}", state_->name,
                              stream.msg != nullptr ? stream.msg : "the packed bytes are damaged"),
                  "the file is damaged: get it again");
    }
  }
  return room - stream.avail_out;
}

bool is_gzip(std::string_view first_bytes) { return first_bytes.starts_with("\x1f\x8b\x08"); }

}  // namespace sabath
