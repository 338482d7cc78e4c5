#include "cli/output.h"

#include <nlohmann/json.hpp>
#include <span>

#include "base/file.h"
#include "sabath/error.h"

namespace sabath::cli {
namespace {

constexpr std::size_t buffer_bytes = 64 * 1024;

}  // namespace

void Output::print(std::string_view text) {
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
  if (!taken.empty()) write_all(fd_, std::as_bytes(std::span(taken)), "standard output");
}

}  // namespace sabath::cli
