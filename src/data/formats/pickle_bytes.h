// The operands of a pickle, read from a source through a buffer. Of long ones only the length counts: they are passed
// over. Inside src/data/formats. One thread at a time. Throws PickleTrouble where Python's machine would stop, too, and
// what the source throws.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "formats/bytes.h"

namespace sabath {

// The walk of a pickle ends here: why, in words.
struct PickleTrouble {
  std::string why;
  bool python_stops = true;  // false: a bound of this walk, and Python would go on
};

class PickleBytes {
 public:
  static constexpr std::size_t text_kept_max = 1024;

  PickleBytes(ByteSource& source, const std::function<void()>& on_progress)
      : source_(source), on_progress_(on_progress) {}

  [[nodiscard]] bool at_end() { return used_ == filled_ && !refill(); }
  [[nodiscard]] std::uint64_t offset() const { return before_ + used_; }

  unsigned char byte() {
    if (at_end()) throw PickleTrouble{"it ends early"};
    return static_cast<unsigned char>(buffer_[used_++]);
  }
  std::uint64_t number(int bytes) {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= std::uint64_t{byte()} << (8 * i);
    return value;
  }
  // Without its last byte, as Python takes it off: a line break, but at the end of the bytes any. False: it is longer
  // than text_kept_max, and `text` is its beginning. `is_name`: of a module, of which none is as long as a line may be.
  bool line(std::string& text, bool is_name);
  // `length` bytes. False: they are more than text_kept_max, and `text` stays empty.
  bool take(std::uint64_t length, std::string& text);

 private:
  bool refill();

  ByteSource& source_;
  const std::function<void()>& on_progress_;
  std::string buffer_;
  std::size_t used_ = 0, filled_ = 0;
  std::uint64_t before_ = 0;
};

}  // namespace sabath
