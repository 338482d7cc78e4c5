// Any file is of a format, of none, or damaged: ONNX, safetensors, archives and the others, by their first bytes; and
// as ONNX in any case.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "expected.h"
#include "formats/inspect/inspect_file.h"
#include "formats/keras.h"
#include "formats/onnx.h"
#include "formats/safetensors.h"
#include "formats/zip.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const MemoryFile file(data, size);
  expect_damage_or([&] {
    const sabath::InspectRecord record = sabath::inspect_file(file.path());
    check(record.bytes == size && record.arrays.size() <= record.arrays_total);
  });
  expect_damage_or([&] {
    const sabath::OnnxModel model = sabath::read_onnx(file.path());
    check(model.graph.nodes <= size && model.graph.initializers <= size);
  });
  expect_damage_or([&] {
    const auto split = static_cast<std::size_t>(size > 0 ? data[0] : 0);
    const sabath::SafeTensors tensors =
        sabath::parse_safetensors(bytes.substr(std::min<std::size_t>(size, 1)), split, "fuzz");
    for (const auto& tensor : tensors.tensors) check(tensor.begin <= tensor.end && tensor.end <= split);
  });
  expect_damage_or([&] {
    const auto cut = bytes.substr(0, bytes.find('\0'));
    const sabath::KerasModel model =
        sabath::parse_keras(cut, bytes.substr(cut.size()).substr(cut.size() < size), "fuzz");
    check(model.layers.size() <= size && model.inputs.size() <= 100);
  });
  expect_damage_or([&] {
    const sabath::ZipArchive archive(file.path());
    for (const sabath::ZipMember& member : archive.members()) {
      if (member.bytes > 1 << 20) continue;
      expect_damage_or([&] {
        std::string text(member.bytes + 1, '\0');
        const auto source = archive.open(member);
        check(sabath::read_full(*source, text) == member.bytes);
      });
    }
  });
  return 0;
}
