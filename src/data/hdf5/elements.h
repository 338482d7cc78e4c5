// Elements that were read with canonical_memory_type, given back to HDF5 when done; and the walk over their parts.
// One thread at a time.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "hdf5/type.h"

namespace sabath::h5 {

using Paths = std::unordered_map<haddr_t, std::string>;  // of the objects that a walk has found

// Memory for `count` elements, zeroed. What HDF5 allocated for variable-length parts is freed by reclaim() or with it.
class Elements {
 public:
  Elements(hid_t memory_type, std::size_t element_size, bool variable)
      : type_(memory_type), size_(element_size), variable_(variable) {}
  ~Elements() { reclaim(); }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;

  void resize(std::size_t count);  // reclaims what was there
  void reclaim() noexcept;
  [[nodiscard]] std::byte* data() { return bytes_.data(); }
  [[nodiscard]] const std::byte* data() const { return bytes_.data(); }
  [[nodiscard]] std::size_t size_bytes() const { return count_ * size_; }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  hid_t type_;
  std::size_t size_, count_ = 0;
  bool variable_;
  std::vector<std::byte> bytes_;
};

// Appends the canonical bytes of one element (docs/hdf5.md) to `out`.
void append_canonical(const Type& type, const std::byte* element, const Paths& paths, std::string& out);

// The path of the object that a reference in memory leads to: "" for a null one, "?" if no path leads to it.
[[nodiscard]] std::string path_of_reference(const std::byte* element, const Paths& paths);

}  // namespace sabath::h5
