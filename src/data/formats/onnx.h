// The facts of an ONNX model: versions, inputs, outputs, operators, how many bytes its initializers have and where.
// Only the file itself is read, and no tensor's data. Source: onnx.proto of ONNX 1.17 (ModelProto, GraphProto, ...).
// Bounded: subgraphs within each other, names, distinct operators. One thread at a time. Throws Error{invalid}.
#pragma once

#include <filesystem>
#include <functional>

#include "sabath/verbs/inspect.h"

namespace sabath {

struct OnnxModel {
  GraphFacts graph;
  std::vector<std::pair<std::string, std::string>> metadata;
};

[[nodiscard]] OnnxModel read_onnx(
    const std::filesystem::path& file, const std::function<void()>& on_progress = [] {});
// A model's version comes first, a graph is there: what else is a protocol buffer is told from it. Throws nothing.
[[nodiscard]] bool may_be_onnx(const std::filesystem::path& file) noexcept;

}  // namespace sabath
