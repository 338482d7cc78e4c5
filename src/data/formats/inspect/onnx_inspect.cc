// ONNX: a model as a protocol buffer.
#include "formats/inspect/inspect_format.h"
#include "formats/onnx.h"

namespace sabath {
namespace {

bool is_model(const DataFile& file) { return may_be_onnx(file.path()); }

void read_model(const DataFile& file, InspectRecord& record) {
  OnnxModel model = read_onnx(file.path(), file.on_progress());
  record.graph = std::move(model.graph);
  record.metadata = std::move(model.metadata);
}

}  // namespace

extern constexpr InspectFormat onnx_inspected{
    .name = "onnx",
    .endings = ".onnx",
    .is = is_model,
    .read = read_model,
};

}  // namespace sabath
