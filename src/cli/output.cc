#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "sabath/error.h"

namespace sabath::cli {
namespace {

constexpr std::size_t buffer_bytes = 64 * 1024;

}  // namespace

void Output::print(std::string_view text) {
  if (fd_ < 0) return;
  buffer_ += text;
  if (buffer_.size() >= buffer_bytes) flush();
}

void Output::begin_record(std::string_view text) {
  if (has_record_) throw Error(FailureKind::internal, "cannot print a second record on standard output");
  has_record_ = true;
  print(text);
}

void Output::record(const nlohmann::ordered_json& record) {
  // Names on disk may be any bytes: what is not UTF-8 becomes U+FFFD, so that the record is always valid JSON.
  begin_record(record.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  print("\n");
}

void Output::flush() {
  std::string taken;
  taken.swap(buffer_);  // a failed write is not tried again at the end
  std::string_view rest = taken;
  while (!rest.empty()) {
    const ssize_t count = ::write(fd_, rest.data(), rest.size());
    if (count >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      reader_gone_ = errno == EPIPE;
      throw Error(FailureKind::storage, fmt::format("cannot write to standard output: {}", std::strerror(errno)),
                  "what was printed is not whole; what the command did is done");
    }
  }
}

}  // namespace sabath::cli
