// The head of a safetensors file: names, types, shapes and places of its tensors, and its metadata. The data are not
// read; their places are checked against each other and the file. Source: the format's README
// (huggingface/safetensors). Any thread. Throws Error{invalid} for a head that lies, {content} where the file ends
// early.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath {

struct SafeTensor {
  std::string name, dtype;  // dtype: "F32", "BF16", ...
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;  // in the data, which begin at data_offset
};

struct SafeTensors {
  std::vector<SafeTensor> tensors;  // by their place
  std::vector<std::pair<std::string, std::string>> metadata;
  std::uint64_t data_offset = 0, data_bytes = 0;
};

inline constexpr std::uint64_t safetensors_head_bytes_max = 100'000'000;  // the format's own bound

[[nodiscard]] bool may_be_safetensors(std::string_view first_bytes, std::uint64_t file_bytes);  // of 9 bytes
// `head`: the JSON, of a file with `data_bytes` behind it. Pure.
[[nodiscard]] SafeTensors parse_safetensors(std::string_view head, std::uint64_t data_bytes, std::string_view name);
[[nodiscard]] SafeTensors read_safetensors(const std::filesystem::path& file);

}  // namespace sabath
