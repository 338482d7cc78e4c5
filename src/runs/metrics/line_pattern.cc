#include "metrics/line_pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t line_pattern_bytes_max = 1000, line_pattern_memory_max = 1 << 20;

RE2::Options line_options() {
  RE2::Options options;
  options.set_max_mem(line_pattern_memory_max);
  options.set_log_errors(false);
  options.set_never_capture(true);
  return options;
}

}  // namespace

struct LinePattern::Expression {
  explicit Expression(const std::string& text) : compiled(text, line_options()) {}
  RE2 compiled;
};

LinePattern::LinePattern(const std::string& text) : text_(text) {
  const auto refuse = [&](std::string_view why) {
    throw Error(FailureKind::invalid, fmt::format("cannot expect a line with '{}': {}", printable(text, 100), why),
                "write an RE2 expression; to find a sign of its language, put \\ before it, as in \\(");
  };
  if (text.size() > line_pattern_bytes_max) refuse("it is too long");
  expression_ = std::make_unique<Expression>(text);
  if (!expression_->compiled.ok()) refuse(printable(expression_->compiled.error(), 200));
}

LinePattern::~LinePattern() = default;
LinePattern::LinePattern(LinePattern&&) noexcept = default;
LinePattern& LinePattern::operator=(LinePattern&&) noexcept = default;

bool LinePattern::is_in(std::string_view line) const {
  return line.find(text_) != std::string_view::npos ||
         expression_->compiled.Match(re2::StringPiece(line.data(), line.size()), 0, line.size(), RE2::UNANCHORED,
                                     nullptr, 0);
}

}  // namespace sabath
