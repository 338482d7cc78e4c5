#include "sabath/secret.h"

#include <cstring>

namespace sabath {

void Secret::wipe() noexcept {
  text_.resize(text_.capacity());  // a moved-from text may still have bytes in place
  explicit_bzero(text_.data(), text_.size());
  text_.clear();
}

Secret& Secret::operator=(const Secret& other) {
  if (this != &other) *this = Secret(other);
  return *this;
}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this == &other) return *this;
  wipe();
  text_ = std::move(other.text_);
  other.wipe();
  return *this;
}

}  // namespace sabath
