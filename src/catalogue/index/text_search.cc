#include "index/text_search.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t pattern_bytes_max = 200;

const std::string& bounded(const std::string& pattern) {
  if (pattern.size() <= pattern_bytes_max) return pattern;
  throw Error(FailureKind::usage, fmt::format("cannot search: the pattern has more than {} bytes", pattern_bytes_max));
}

RE2::Options careless_of_case() {
  RE2::Options options;
  options.set_case_sensitive(false);
  options.set_log_errors(false);
  return options;
}

}  // namespace

struct TextSearch::Expression {
  RE2 value;
};

TextSearch::TextSearch(const std::string& pattern)
    : expression_(new Expression{{bounded(pattern), careless_of_case()}}) {
  if (expression_->value.ok()) return;
  throw Error(FailureKind::usage,
              fmt::format("cannot search for '{}': {}", printable(pattern), printable(expression_->value.error())),
              "it is an RE2 regular expression: put \\ before . ( [ { + * ? to mean them literally");
}

TextSearch::~TextSearch() = default;

bool TextSearch::in_a_line_of(std::string_view text) const {
  for (std::size_t end; !text.empty(); text.remove_prefix(std::min(end, text.size() - 1) + 1)) {
    end = text.find('\n');
    const auto line = text.substr(0, end);
    if (RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), expression_->value)) return true;
  }
  return false;
}

}  // namespace sabath
