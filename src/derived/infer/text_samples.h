// Samples and results as text. For src/derived/infer alone.
#pragma once

#include <filesystem>
#include <memory>

#include "infer/samples.h"

namespace sabath {

// One sample a line; numbers stand between commas, semicolons or blanks. A first line of words is passed over.
[[nodiscard]] std::unique_ptr<SampleReader> open_line_samples(const std::filesystem::path& file,
                                                              const TensorSlot& wanted);
[[nodiscard]] std::unique_ptr<SampleReader> open_json_samples(const std::filesystem::path& file,
                                                              const TensorSlot& wanted);
// .json: an array of samples; else one sample a line, with commas (.csv) or blanks (.txt) between numbers.
[[nodiscard]] std::unique_ptr<ResultWriter> create_text_results(const std::filesystem::path& file,
                                                                const TensorSlot& slot);

}  // namespace sabath
