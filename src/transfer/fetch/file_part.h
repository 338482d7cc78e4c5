// A fragment that is one file. One thread.
#pragma once

#include "fetch/fragment_part.h"

namespace sabath {

class FilePart final : public FragmentPart {
 public:
  using FragmentPart::FragmentPart;
  void prepare() override;

 private:
  bool enter() override;
  // A file has a note of its own in the arrivals; the given key is for its version, where there are others'.
  [[nodiscard]] bool given_key_tells() const override {
    return fragment().urls.size() > 1 && fragment().checksum.empty();
  }
};

}  // namespace sabath
