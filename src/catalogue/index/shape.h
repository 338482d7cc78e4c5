// Shapes as people ask for them: "512,512,512,4", "(512, 512)", "512x512", and "1,?,3", where ? is an axis of any
// length. Pure; any thread. Throws Error{usage} for text that is no shape.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

class ShapePattern {
 public:
  // At most 64 axes. `*`, `-1`, `none` and `null` mean the same as `?`. "()" is a scalar.
  [[nodiscard]] static ShapePattern parse(std::string_view text);
  // `shape`: axes with commas between. One that is no number (`?`, `batch`) is open: each length fits it.
  [[nodiscard]] bool fits(std::string_view shape) const;

 private:
  std::vector<std::optional<std::string>> axes_;  // digits without leading zeros; nullopt: any length
};

}  // namespace sabath
