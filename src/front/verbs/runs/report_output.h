// Where a report goes: to the caller, or to a file that appears under its name when it is whole. One thread.
// Throws Error{storage} and {space}.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "report/exporter.h"
#include "sabath/event.h"

namespace sabath {

class ReportOutput : public ExportSink {
 public:
  // An empty file: `take` has all of it, piece by piece.
  ReportOutput(std::filesystem::path file, std::function<void(std::string_view)> take, EventSink& events);
  ~ReportOutput() override;  // without publish(), nothing is left
  ReportOutput(const ReportOutput&) = delete;
  ReportOutput& operator=(const ReportOutput&) = delete;

  void write(std::string_view text) override;
  void say(std::string_view line) override { events_.on(event::Message{std::string(line)}); }
  [[nodiscard]] std::filesystem::path file() const override { return temporary_; }
  void publish();  // once, after the last write

 private:
  void flush();
  std::filesystem::path file_, temporary_;
  const std::function<void(std::string_view)> take_;
  EventSink& events_;
  Fd fd_;
  std::string buffer_;
};

}  // namespace sabath
