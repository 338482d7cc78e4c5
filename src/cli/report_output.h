// Where a report goes: standard output, or a file that appears under its name when it is whole. Main thread only.
// Throws Error{storage} and {space}.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/file.h"
#include "cli/output.h"

namespace sabath::cli {

class ReportOutput {
 public:
  ReportOutput(Output& out, std::filesystem::path file);  // an empty file: standard output
  ~ReportOutput();                                        // without publish(), nothing is left
  ReportOutput(const ReportOutput&) = delete;
  ReportOutput& operator=(const ReportOutput&) = delete;

  void write(std::string_view text);
  void publish();  // once, after the last write
  // What a program that writes by itself may fill before publish().
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }

 private:
  void flush();
  Output& out_;
  std::filesystem::path file_, temporary_;
  Fd fd_;
  std::string buffer_;
};

}  // namespace sabath::cli
