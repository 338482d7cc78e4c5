// A password, a token or a key: text that no message shows, wiped when it goes. It cannot be printed, compared or
// turned into a string by accident; reveal() is where it leaves, and there are few of those. A plain value; any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace sabath {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}  // the argument's own storage is taken over
  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept : text_(std::move(other.text_)) { other.wipe(); }
  Secret& operator=(const Secret& other);
  Secret& operator=(Secret&& other) noexcept;
  ~Secret() { wipe(); }

  [[nodiscard]] bool empty() const noexcept { return text_.empty(); }
  [[nodiscard]] std::string_view reveal() const noexcept { return text_; }

 private:
  void wipe() noexcept;
  std::string text_;
};

}  // namespace sabath
