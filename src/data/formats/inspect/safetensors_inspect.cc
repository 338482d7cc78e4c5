// Hugging Face's safetensors: the length of a JSON header, the header, the data of all tensors.
#include "formats/inspect/inspect_format.h"
#include "formats/safetensors.h"
#include "sabath/path.h"

namespace sabath {
namespace {

bool is_safetensors(const DataFile& file) { return may_be_safetensors(file.begin(), file.bytes()); }

void read_tensors(const DataFile& file, InspectRecord& record) {
  SafeTensors tensors = read_safetensors(file.path());
  for (const SafeTensor& tensor : tensors.tensors) {
    add_array(record,
              {printable(tensor.name), printable(tensor.dtype), tensor.shape, false, false, tensor.end - tensor.begin});
  }
  if (tensors.metadata.size() > inspect_metadata_max) tensors.metadata.resize(inspect_metadata_max);
  for (const auto& [key, value] : tensors.metadata)
    record.metadata.emplace_back(printable(key), printable(value, 1024));
}

}  // namespace

extern constexpr InspectFormat safetensors_inspected{
    .name = "safetensors",
    .endings = ".safetensors",
    .is = is_safetensors,
    .read = read_tensors,
};

}  // namespace sabath
