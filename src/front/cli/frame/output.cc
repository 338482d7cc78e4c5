#include "cli/frame/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "sabath/error.h"
#include "verbs/verb.h"

namespace sabath::cli {
namespace {

constexpr std::size_t buffer_bytes = 64 * 1024;

constexpr std::string_view no_elements = "[]";

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

void Output::record_text(std::string_view record) {
  begin_record(record);
  print("\n");
}

void Output::record(const nlohmann::ordered_json& record) { record_text(text_of(record)); }

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

void LongRecord::begin(const nlohmann::ordered_json& head) {
  const std::string text = text_of(head);
  out_.begin_record(std::string_view(text).substr(0, text.find(no_elements) + 1));
  begun_ = true;
}

void LongRecord::add(const nlohmann::ordered_json& head, const nlohmann::ordered_json& element) {
  begun_ ? out_.print(",") : begin(head);
  out_.print(text_of(element));
}

void LongRecord::end(const nlohmann::ordered_json& record) {
  if (!begun_) begin(record);
  const std::string text = text_of(record);
  out_.print(text.substr(text.find(no_elements) + 1) + "\n");
}

}  // namespace sabath::cli
