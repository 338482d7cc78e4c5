// The programs that convert models, described by data: etc/engines/NAME.json, or a user's own below
// sabath/engines of his configuration. Any thread. Throws Error{not_found}, Error{invalid}, Error{access}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ort/tensor.h"
#include "sabath/digest.h"
#include "sabath/environment.h"

namespace sabath {

struct ConversionEngine {
  std::string name;
  std::vector<std::string> argv;        // {engine}: its directory; {request}: the file with what is wanted
  std::vector<std::string> needs;       // of the Python that argv[0] names
  std::vector<std::string> endings;     // of the files that it takes
  std::uint64_t opset = 0;              // where the user names none
  std::optional<TensorType> precision;  // stated beforehand: what outputs of more bits become
  std::filesystem::path directory;
  Sha256 digest;  // of its description and all Python beside it
};

[[nodiscard]] ConversionEngine find_engine(const std::string& name, const Environment& environment,
                                           const std::filesystem::path& program);

}  // namespace sabath
