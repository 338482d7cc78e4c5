// The C interface of ONNX Runtime, as far as it is used. Its table of functions is only ever appended to, so a prefix
// of it is enough for every version; no header of it is needed, and Debian has none. Source: the list of OrtApi's
// members in onnxruntime_c_api.h; tests/ort calls each function that is named here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sabath {

inline constexpr std::uint32_t ort_table_version = 1;  // every function below is there since the first one

struct OrtBase {                                 // what OrtGetApiBase() returns
  void* const* (*table)(std::uint32_t version);  // nullptr: not of this version
  const char* (*version)();
};

enum class OrtCall : std::size_t {  // positions in the table
  error_code = 1,
  error_message = 2,
  create_env = 3,
  create_session = 7,
  create_session_from_bytes = 8,
  run = 9,
  create_session_options = 10,
  set_optimised_model_file = 11,
  set_optimisation = 23,
  set_threads_in_operator = 24,
  set_threads_between_operators = 25,
  input_count = 30,
  output_count = 31,
  input_type = 33,
  output_type = 34,
  input_name = 36,
  output_name = 37,
  create_tensor = 49,
  is_tensor = 50,
  tensor_data = 51,
  tensor_of_type = 55,
  element_type = 60,
  dimension_count = 61,
  dimensions = 62,
  symbolic_dimensions = 63,
  tensor_facts = 65,
  create_cpu_memory = 69,
  free = 76,
  default_allocator = 78,
  release_env = 92,
  release_error = 93,
  release_memory = 94,
  release_session = 95,
  release_value = 96,
  release_type = 98,
  release_tensor_facts = 99,
  release_session_options = 100,
};

}  // namespace sabath
