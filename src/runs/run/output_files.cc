#include "run/output_files.h"

#include <fmt/format.h>

#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t line_kept_max = 400, lines_kept = 32;

}  // namespace

void OutputFiles::write(std::optional<int> rank, std::string_view bytes) {
  directory_.add_output(rank ? fmt::format("{}.{}", stream_, *rank) : stream_, bytes);
  remember(bytes);
}

void OutputFiles::finish() { remember("\n"); }

void OutputFiles::remember(std::string_view bytes) {
  for (const char c : bytes) {
    if (c == '\n' || c == '\r') {
      if (!line_.empty()) last_.push_back(printable(line_, line_kept_max));
      line_.clear();
      if (last_.size() > lines_kept) last_.pop_front();
    } else if (line_.size() < line_kept_max) {
      line_ += c;
    }
  }
}

}  // namespace sabath
