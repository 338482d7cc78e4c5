// Samples of a file, some at a time: .npy and .npz (streamed), .csv and .txt (streamed: one sample a line), .json (one
// array, of at most 64 MiB). One thread. Throws Error{usage} for what the model does not take, {invalid} for what is no
// such file, with its line; {not_found}, {storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "ort/tensor.h"

namespace sabath {

class SampleReader {
 public:
  virtual ~SampleReader() = default;
  // What the file holds: its shape begins with the number of samples.
  [[nodiscard]] virtual const TensorSlot& slot() const = 0;
  [[nodiscard]] virtual Tensor read(std::uint64_t count) = 0;  // the next `count` ones
};

// By the ending of its name. `wanted`: what the model takes, without its number of samples: text is read as that type,
// and a line is cut into that shape.
[[nodiscard]] std::unique_ptr<SampleReader> open_samples(const std::filesystem::path& file, const TensorSlot& wanted);

class ResultWriter {
 public:
  virtual ~ResultWriter() = default;
  virtual void write(const Tensor& results) = 0;  // the next ones; all of the type and shape that was said
  virtual void finish() = 0;                      // the file appears, whole
};

// By the ending of its name. `slot`: its shape begins with the number of samples.
[[nodiscard]] std::unique_ptr<ResultWriter> create_results(const std::filesystem::path& file, const TensorSlot& slot);

// The type's name in the header of a .npy file: "<f4"; the type of such a name.
[[nodiscard]] std::string_view npy_descr(TensorType type) noexcept;
[[nodiscard]] std::optional<TensorType> try_npy_type(std::string_view descr) noexcept;

void refuse_other_endings(const std::filesystem::path& file);  // throws Error{usage}

}  // namespace sabath
