// Whole tensors as .npy files. Any thread. Throws Error{usage} for elements that no model takes, {invalid} for what is
// no such file or has more than `bytes_max` bytes, {content} for a file that is cut off, {not_found}, {storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "ort/tensor.h"

namespace sabath {

inline constexpr std::uint64_t array_bytes_max = 1ULL << 30U;

[[nodiscard]] Tensor read_array(const std::filesystem::path& file, std::uint64_t bytes_max = array_bytes_max);
// Rows of the first axis, in the order of `rows`; each must be there.
[[nodiscard]] Tensor read_rows(const std::filesystem::path& file, const std::vector<std::uint64_t>& rows);
[[nodiscard]] std::uint64_t rows_of(const std::filesystem::path& file);
void write_array(const std::filesystem::path& file, const Tensor& array);

}  // namespace sabath
