// Cuts a stream into pieces that end with a newline or a carriage return. Memory: one piece of at most `line_max`
// bytes; what is longer is skipped to its end and counted. Pieces point into what was fed, or into the splitter. One
// thread; throws only what the caller's function throws.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace sabath {

struct LinePiece {
  std::string_view text;
  bool rewritten = false;  // ended by a carriage return: the next piece may take its place
};

class LineSplitter {
 public:
  explicit LineSplitter(std::size_t line_max) : line_max_(line_max) {}

  template <typename Take>
  void feed(std::string_view bytes, const Take& take) {
    const char* newline = next('\n', bytes, bytes.size());
    while (!bytes.empty()) {
      if (newline != nullptr && newline < bytes.data()) newline = next('\n', bytes, bytes.size());
      const std::size_t end = find_end(bytes, newline);
      if (end == std::string_view::npos) {
        keep(bytes);
        return;
      }
      const bool rewritten = bytes[end] == '\r';
      const std::string_view text = bytes.substr(0, end);
      bytes.remove_prefix(end + 1);
      if (kept_.empty() && !skips_) {
        hand(text, rewritten, take);
      } else {
        keep(text);
        const std::string whole = std::exchange(kept_, {});
        hand(whole, rewritten, take);
      }
    }
  }

  template <typename Take>
  void finish(const Take& take) {
    const std::string whole = std::exchange(kept_, {});
    if (!whole.empty() || skips_) hand(whole, false, take);
  }

  [[nodiscard]] std::uint64_t too_long() const noexcept { return too_long_; }

 private:
  static const char* next(char c, std::string_view bytes, std::size_t length) {
    return length == 0 ? nullptr : static_cast<const char*>(std::memchr(bytes.data(), c, length));
  }

  // The nearest newline or carriage return. Each byte is looked at twice at most: up to the next newline, which is
  // looked for once, for carriage returns only.
  static std::size_t find_end(std::string_view bytes, const char* newline) {
    const std::size_t length = newline == nullptr ? bytes.size() : static_cast<std::size_t>(newline - bytes.data());
    const auto* const rewrite = next('\r', bytes, length);
    if (rewrite != nullptr) return static_cast<std::size_t>(rewrite - bytes.data());
    return newline == nullptr ? std::string_view::npos : length;
  }

  void keep(std::string_view text) {
    if (skips_) return;
    if (kept_.size() + text.size() > line_max_) {
      skips_ = true;
      kept_.clear();
      kept_.shrink_to_fit();
    } else {
      kept_ += text;
    }
  }

  template <typename Take>
  void hand(std::string_view text, bool rewritten, const Take& take) {
    if (skips_ || text.size() > line_max_) {
      ++too_long_;
      skips_ = false;
    } else {
      take(LinePiece{text, rewritten});
    }
  }

  std::size_t line_max_;
  std::string kept_;
  bool skips_ = false;
  std::uint64_t too_long_ = 0;
};

}  // namespace sabath
