// Where a report goes: standard output, or a file that appears under its name when it is whole. Main thread only.
// Throws Error{storage} and {space}.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/file.h"
#include "cli/verb.h"
#include "report/exporter.h"

namespace sabath::cli {

class ReportOutput : public ExportSink {
 public:
  ReportOutput(const Context& context, std::filesystem::path file);  // an empty file: standard output
  ~ReportOutput() override;                                          // without publish(), nothing is left
  ReportOutput(const ReportOutput&) = delete;
  ReportOutput& operator=(const ReportOutput&) = delete;

  void write(std::string_view text) override;
  void say(std::string_view line) override { context_.say(line); }
  [[nodiscard]] std::filesystem::path file() const override { return temporary_; }
  void publish();  // once, after the last write

 private:
  void flush();
  const Context& context_;
  std::filesystem::path file_, temporary_;
  Fd fd_;
  std::string buffer_;
};

}  // namespace sabath::cli
