#include "formats/pickle_bytes.h"

#include <algorithm>
#include <string_view>

namespace sabath {
namespace {

// Most of what may be a pickle is none, which the first bytes show.
constexpr std::size_t first_bytes_max = 4 << 10, later_bytes_max = 64 << 10;
constexpr std::uint64_t line_bytes_max = 64 << 20;

}  // namespace

bool PickleBytes::refill() {
  on_progress_();
  before_ += filled_;
  used_ = 0;
  buffer_.resize(before_ == 0 ? first_bytes_max : later_bytes_max);
  filled_ = source_.read(buffer_);
  return filled_ > 0;
}

bool PickleBytes::line(std::string& text, bool is_name) {
  text.clear();
  if (at_end()) throw PickleTrouble{"it ends early"};
  bool whole = true;
  char last = 0;
  const std::uint64_t begin = offset();
  while (last != '\n' && !at_end()) {
    if (offset() - begin > line_bytes_max) throw PickleTrouble{"a line is too long", is_name};
    const std::string_view rest = std::string_view(buffer_).substr(used_, filled_ - used_);
    const std::size_t length = std::min(rest.find('\n'), rest.size() - 1) + 1;
    if (text.size() + length > text_kept_max + 1) whole = false;
    text += rest.substr(0, std::min(length, text_kept_max + 1 - text.size()));
    last = rest[length - 1];
    used_ += length;
  }
  if (whole || text.size() > text_kept_max) text.pop_back();
  return whole;
}

bool PickleBytes::take(std::uint64_t length, std::string& text) {
  const bool whole = length <= text_kept_max;
  while (length > 0) {
    if (used_ == filled_ && !whole) {
      const std::uint64_t passed = source_.skip(length);
      before_ += passed;
      if (passed < length) throw PickleTrouble{"it ends early"};
      break;
    }
    if (at_end()) throw PickleTrouble{"it ends early"};
    const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(length, filled_ - used_));
    if (whole) text.append(buffer_, used_, piece);
    used_ += piece;
    length -= piece;
  }
  return whole;
}

}  // namespace sabath
