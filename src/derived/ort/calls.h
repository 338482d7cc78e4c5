// Calls into the table of ONNX Runtime, with its errors as Error. For src/derived/ort alone.
#pragma once

#include <string_view>
#include <utility>

#include "ort/ort_table.h"

namespace sabath {

template <typename Function>
[[nodiscard]] Function* ort_function(void* const* table, OrtCall call) {
  return reinterpret_cast<Function*>(table[static_cast<std::size_t>(call)]);
}

// Throws Error{invalid} with the runtime's words, if `status` is one; frees it.
void check_ort(void* const* table, void* status, std::string_view what);

// Calls a function that returns a status.
template <typename... Arguments>
void call_ort(void* const* table, OrtCall call, std::string_view what, Arguments... arguments) {
  check_ort(table, ort_function<void*(Arguments...)>(table, call)(arguments...), what);
}

// An object of the runtime, which `release` frees.
class OrtObject {
 public:
  OrtObject(void* const* table, OrtCall release, void* object = nullptr)
      : table_(table), release_(release), object_(object) {}
  OrtObject(OrtObject&& other) noexcept
      : table_(other.table_), release_(other.release_), object_(std::exchange(other.object_, nullptr)) {}
  OrtObject& operator=(OrtObject&&) = delete;
  ~OrtObject() {
    if (object_ != nullptr) ort_function<void(void*)>(table_, release_)(object_);
  }
  [[nodiscard]] void* get() const { return object_; }
  [[nodiscard]] void** out() { return &object_; }

 private:
  void* const* table_;
  OrtCall release_;
  void* object_;
};

}  // namespace sabath
