#include "verbs/runs/report_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <utility>

namespace sabath {

constexpr std::size_t report_buffer_size = 1 << 20;

ReportOutput::ReportOutput(std::filesystem::path file, std::function<void(std::string_view)> take, EventSink& events)
    : file_(std::move(file)), take_(std::move(take)), events_(events) {
  if (file_.empty()) return;
  temporary_ = unfinished_name(file_, "part");
  fd_ = open_file(temporary_, O_WRONLY | O_CREAT | O_TRUNC);
}

ReportOutput::~ReportOutput() {
  if (fd_) ::unlink(temporary_.c_str());
}

void ReportOutput::flush() {
  write_all(fd_.get(), std::as_bytes(std::span(buffer_)), temporary_);
  buffer_.clear();
}

void ReportOutput::write(std::string_view text) {
  if (file_.empty()) {
    if (take_) take_(text);
    return;
  }
  buffer_ += text;
  if (buffer_.size() >= report_buffer_size) flush();
}

void ReportOutput::publish() {
  if (file_.empty()) return;
  flush();
  rename_path(temporary_, file_);
  close_file(std::exchange(fd_, Fd()), file_);
}

}  // namespace sabath
