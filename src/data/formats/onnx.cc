#include "formats/onnx.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "formats/protobuf_file.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using Field = ProtobufFile::Field;
using Wire = ProtobufField::Wire;

constexpr std::size_t name_bytes_max = 1024, operators_max = 4096, values_max = 100'000, files_max = 10'000,
                      metadata_max = 256, initializer_names_max = 1'000'000;
constexpr unsigned subgraphs_max = 16;

struct TensorType {
  std::string_view name;
  unsigned bits = 0;
};

// By TensorProto.DataType.
constexpr std::array<TensorType, 24> tensor_types{{
    {"undefined", 0},      {"float32", 32},  {"uint8", 8},        {"int8", 8},           {"uint16", 16},
    {"int16", 16},         {"int32", 32},    {"int64", 64},       {"string", 0},         {"bool", 8},
    {"float16", 16},       {"float64", 64},  {"uint32", 32},      {"uint64", 64},        {"complex64", 64},
    {"complex128", 128},   {"bfloat16", 16}, {"float8e4m3fn", 8}, {"float8e4m3fnuz", 8}, {"float8e5m2", 8},
    {"float8e5m2fnuz", 8}, {"uint4", 4},     {"int4", 4},         {"float4e2m1", 4},
}};

TensorType tensor_type(std::uint64_t number) {
  return number < tensor_types.size() ? tensor_types[number] : TensorType{"unknown", 0};
}

// As a path in the model's own directory: "./w.bin" and "a//w.bin" are read there, too.
std::string path_beside(std::string_view location) {
  if (location.starts_with('/')) return std::string(location);
  std::string path;
  while (!location.empty()) {
    const std::size_t end = std::min(location.find('/'), location.size());
    const std::string_view name = location.substr(0, end);
    location.remove_prefix(std::min(end + 1, location.size()));
    if (name.empty() || name == ".") continue;
    path += path.empty() ? "" : "/";
    path += name;
  }
  return path;
}

class OnnxWalk {
 public:
  OnnxWalk(const std::filesystem::path& path, const std::function<void()>& on_progress)
      : name_(printable(path.native(), 4096)), file_(path), on_progress_(on_progress) {}

  OnnxModel run() {
    bool has_graph = false;
    each(file_.whole(), [&](const Field& field) {
      if (field.is(1, Wire::varint)) graph_.ir_version = field.bits;
      if (field.is(2, Wire::bytes)) graph_.producer = text(field) + graph_.producer;
      if (field.is(3, Wire::bytes) && field.length > 0) graph_.producer += " " + text(field);
      if (field.is(8, Wire::bytes)) opset(field);
      if (field.is(14, Wire::bytes)) entry(field, model_.metadata);
      if (field.is(25, Wire::bytes)) function(field);
      if (!field.is(7, Wire::bytes)) return;
      has_graph = true;
      graph(field, 0);
    });
    if (!has_graph) throw Error(FailureKind::invalid, fmt::format("cannot read {}: it has no graph", name_));
    std::erase_if(graph_.inputs, [&](const GraphValue& value) { return initializers_.contains(value.name); });
    graph_.operators.assign(operators_.begin(), operators_.end());
    graph_.external_data.assign(files_.begin(), files_.end());
    std::ranges::sort(graph_.opsets);
    model_.graph = std::move(graph_);
    return std::move(model_);
  }

 private:
  template <typename Take>
  void each(ProtobufFile::Cursor cursor, const Take& take) {
    Field field;
    while (file_.next(cursor, field)) take(field);
  }
  template <typename Take>
  void each(const Field& message, const Take& take) {
    each(ProtobufFile::in(message), take);
  }

  std::string text(const Field& field) { return printable(file_.text(field, name_bytes_max), name_bytes_max); }

  void opset(const Field& message) {
    std::pair<std::string, std::uint64_t> opset;
    each(message, [&](const Field& field) {
      if (field.is(1, Wire::bytes)) opset.first = text(field);
      if (field.is(2, Wire::varint)) opset.second = field.bits;
    });
    if (opset.first == "ai.onnx") opset.first.clear();
    if (graph_.opsets.size() < operators_max) graph_.opsets.push_back(std::move(opset));
  }

  void entry(const Field& message, std::vector<std::pair<std::string, std::string>>& entries) {
    std::pair<std::string, std::string> entry;
    each(message, [&](const Field& field) {
      if (field.is(1, Wire::bytes)) entry.first = text(field);
      if (field.is(2, Wire::bytes)) entry.second = text(field);
    });
    if (entries.size() < metadata_max) entries.push_back(std::move(entry));
  }

  void function(const Field& message) {
    ++graph_.functions;
    each(message, [&](const Field& field) {
      if (field.is(7, Wire::bytes)) node(field, 0);  // FunctionProto.node
    });
  }

  void graph(const Field& message, unsigned depth) {
    if (depth > subgraphs_max)
      throw Error(FailureKind::invalid, fmt::format("cannot read {}: its subgraphs go too deep", name_));
    each(message, [&](const Field& field) {
      if (field.wire != Wire::bytes) return;
      if (field.number == 1) node(field, depth);
      if (field.number == 5) tensor(field, depth == 0);
      if (field.number == 15) sparse(field);
      if (depth > 0) return;
      if (field.number == 2) graph_.name = text(field);
      if (field.number == 11) value(field, graph_.inputs);
      if (field.number == 12) value(field, graph_.outputs);
    });
  }

  void node(const Field& message, unsigned depth) {
    on_progress_();
    ++graph_.nodes;
    std::string type, domain;
    each(message, [&](const Field& field) {
      if (field.is(4, Wire::bytes)) type = text(field);
      if (field.is(7, Wire::bytes)) domain = text(field);
      if (field.is(5, Wire::bytes)) attribute(field, depth);
    });
    if (!domain.empty() && domain != "ai.onnx") type = domain + "." + type;
    if (operators_.size() < operators_max || operators_.contains(type)) ++operators_[type];
  }

  void attribute(const Field& message, unsigned depth) {
    each(message, [&](const Field& field) {
      if (field.is(6, Wire::bytes) || field.is(11, Wire::bytes)) graph(field, depth + 1);
      if (field.is(5, Wire::bytes)) external_of(field);
    });
  }

  void sparse(const Field& message) {
    each(message, [&](const Field& field) {
      if (field.is(1, Wire::bytes)) tensor(field, true);
    });
  }

  void tensor(const Field& message, bool named) {
    ++graph_.initializers;
    std::uint64_t elements = 1, type = 0;
    bool absurd = false;
    const auto dimension = [&](std::uint64_t extent) { absurd |= __builtin_mul_overflow(elements, extent, &elements); };
    each(message, [&](const Field& field) {
      if (field.is(1, Wire::varint)) dimension(field.bits);
      if (field.is(1, Wire::bytes)) {  // packed
        const std::string bytes = file_.text(field, name_bytes_max);
        std::string_view packed = bytes;
        for (std::uint64_t extent = 0; take_varint(packed, extent);) dimension(extent);
      }
      if (field.is(2, Wire::varint)) type = field.bits;
      if (named && field.is(8, Wire::bytes) && initializers_.size() < initializer_names_max)
        initializers_.insert(text(field));
    });
    external_of(message);
    const std::uint64_t bits = tensor_type(type).bits;
    if (absurd || (bits > 0 && elements > UINT64_MAX / 128))
      throw Error(FailureKind::invalid, fmt::format("cannot read {}: a tensor's shape is absurdly large", name_));
    graph_.initializer_bytes += (elements * bits + 7) / 8;
  }

  // TensorProto.external_data: the entry "location".
  void external_of(const Field& message) {
    each(message, [&](const Field& field) {
      if (!field.is(13, Wire::bytes)) return;
      std::vector<std::pair<std::string, std::string>> entries;
      entry(field, entries);
      if (entries[0].first != "location" || files_.size() == files_max) return;
      const std::string path = path_beside(entries[0].second);
      graph_.external_outside |= !RelativePath::try_parse(path);
      files_.insert(path);
    });
  }

  void value(const Field& message, std::vector<GraphValue>& values) {
    GraphValue value;
    each(message, [&](const Field& field) {
      if (field.is(1, Wire::bytes)) value.name = text(field);
      if (field.is(2, Wire::bytes)) each(field, [&](const Field& type) { value_type(type, value); });
    });
    if (values.size() < values_max) values.push_back(std::move(value));
  }

  void value_type(const Field& message, GraphValue& value) {
    if (message.wire != Wire::bytes) return;
    if (message.number == 4) value.type = "sequence";
    if (message.number == 5) value.type = "map";
    if (message.number == 9) value.type = "optional";
    if (message.number != 1 && message.number != 8) return;
    each(message, [&](const Field& field) {
      if (field.is(1, Wire::varint)) value.type = tensor_type(field.bits).name;
      if (!field.is(2, Wire::bytes)) return;
      value.shape_known = true;
      each(field, [&](const Field& dimension) {
        if (dimension.is(1, Wire::bytes) && value.shape.size() < name_bytes_max)
          value.shape.push_back(extent(dimension));
      });
    });
  }

  std::string extent(const Field& message) {
    std::string extent = "?";
    each(message, [&](const Field& field) {
      if (field.is(1, Wire::varint)) extent = fmt::to_string(static_cast<std::int64_t>(field.bits));
      if (field.is(2, Wire::bytes) && field.length > 0) extent = text(field);
    });
    return extent;
  }

  std::string name_;
  ProtobufFile file_;
  const std::function<void()>& on_progress_;
  OnnxModel model_;
  GraphFacts graph_;
  std::map<std::string, std::uint64_t> operators_;
  std::set<std::string> files_, initializers_;
};

}  // namespace

OnnxModel read_onnx(const std::filesystem::path& file, const std::function<void()>& on_progress) {
  return OnnxWalk(file, on_progress).run();
}

bool may_be_onnx(const std::filesystem::path& path) noexcept {
  try {
    ProtobufFile file(path);
    ProtobufFile::Cursor cursor = file.whole();
    Field field;
    bool version = false, graph = false;
    for (int i = 0; i < 64 && !(version && graph) && file.next(cursor, field); ++i) {
      if (i == 0 && !field.is(1, Wire::varint)) return false;
      version |= field.is(1, Wire::varint) && field.bits > 0 && field.bits < 1000;
      graph |= field.is(7, Wire::bytes);
    }
    return version && graph;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace sabath
