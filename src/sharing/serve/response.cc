#include "serve/response.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "sabath/error.h"

namespace sabath {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t piece_size = 256 * 1024;  // of an answer not sent by sendfile

// Content on its way through a buffer: over TLS, or with a bounded rate.
struct Pieces {
  ServedContent content;
  std::uint64_t offset = 0, rate_max = 0;
  const std::atomic<bool>& ending;
  Clock::time_point begin = Clock::now();
};

ssize_t read_piece(void* self, std::uint64_t position, char* buffer, std::size_t size) noexcept {
  auto& pieces = *static_cast<Pieces*>(self);
  if (pieces.rate_max > 0) {
    size = std::min<std::size_t>(size, std::max<std::uint64_t>(pieces.rate_max / 20, 1));
    const auto due = pieces.begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                                        static_cast<double>(position) / static_cast<double>(pieces.rate_max)));
    while (!pieces.ending && Clock::now() < due) {
      std::this_thread::sleep_for(std::min<Clock::duration>(due - Clock::now(), std::chrono::milliseconds(50)));
    }
    if (pieces.ending) return MHD_CONTENT_READER_END_WITH_ERROR;
  }
  const ssize_t got = ::pread(pieces.content.file.get(), buffer, size, static_cast<off_t>(pieces.offset + position));
  return got > 0 ? got : MHD_CONTENT_READER_END_WITH_ERROR;
}

void free_pieces(void* self) noexcept { delete static_cast<Pieces*>(self); }

}  // namespace

Response::Response(MHD_Response* response) : response_(response) {
  if (response_ == nullptr) throw Error(FailureKind::internal, "cannot make an answer: out of memory");
}

MHD_Response* text_response(const std::string& body) {
  return MHD_create_response_from_buffer(body.size(), const_cast<char*>(body.data()), MHD_RESPMEM_MUST_COPY);
}

MHD_Response* content_response(ServedContent content, const Reply& reply, bool through, std::uint64_t rate_max,
                               const std::atomic<bool>& ending) {
  if (reply.length == 0) return MHD_create_response_from_buffer(0, nullptr, MHD_RESPMEM_PERSISTENT);
  if (!content.file)
    return MHD_create_response_from_buffer(reply.length, content.bytes.data() + reply.offset, MHD_RESPMEM_MUST_COPY);
  if (!through)  // it closes the file
    return MHD_create_response_from_fd_at_offset64(reply.length, content.file.release(), reply.offset);
  return MHD_create_response_from_callback(reply.length, piece_size, read_piece,
                                           new Pieces{std::move(content), reply.offset, rate_max, ending}, free_pieces);
}

}  // namespace sabath
