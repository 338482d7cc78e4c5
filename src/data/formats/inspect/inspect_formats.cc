#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "formats/gzip.h"
#include "formats/inspect/inspect_format.h"
#include "sabath/path.h"

namespace sabath {

// Every format, in the order in which they are tried. NAME stands for the constant NAME_inspected of the format's file.
#define SABATH_INSPECT_FORMATS(NAME) \
  NAME(hdf5)                         \
  NAME(npy)                          \
  NAME(zip)                          \
  NAME(tfrecord)                     \
  NAME(safetensors)                  \
  NAME(onnx)                         \
  NAME(keras)                        \
  NAME(csv)

#define SABATH_DECLARE(name) extern const InspectFormat name##_inspected;
SABATH_INSPECT_FORMATS(SABATH_DECLARE)
#undef SABATH_DECLARE

std::span<const InspectFormat* const> inspect_formats() {
#define SABATH_ENTRY(name) &name##_inspected,
  static constexpr std::array all{SABATH_INSPECT_FORMATS(SABATH_ENTRY)};
#undef SABATH_ENTRY
  return all;
}

const InspectFormat* inspect_format_named(std::string_view file_name) {
  for (const InspectFormat* const format : inspect_formats()) {
    for (std::string_view endings = format->endings; !endings.empty();) {
      const std::string_view ending = endings.substr(0, endings.find(' '));
      if (file_name.ends_with(ending)) return format;
      endings.remove_prefix(std::min(endings.size(), ending.size() + 1));
    }
  }
  return nullptr;
}

DataFile::DataFile(std::filesystem::path path, std::function<void()> on_progress)
    : path_(std::move(path)), on_progress_(std::move(on_progress)) {
  constexpr std::size_t look_bytes = 16;
  bytes_ = FileBytes(path_).size_bytes();
  begin_ = head(look_bytes);
  packed_ = is_gzip(begin_);
  if (packed_) begin_ = head(look_bytes);
}

void DataFile::read(const std::function<void(ByteSource& content)>& take) const {
  FileBytes source(path_);
  if (!packed_) return take(source);
  InflateSource unpacked(source, InflateSource::Form::gzip, printable(path_.native(), 4096));
  take(unpacked);
}

std::string DataFile::head(std::size_t bytes) const {
  std::string head(bytes, '\0');
  read([&](ByteSource& content) { head.resize(read_full(content, head)); });
  return head;
}

void add_array(InspectRecord& record, FileArray array) {
  constexpr std::size_t arrays_shown = 10'000;
  ++record.arrays_total;
  if (record.arrays.size() < arrays_shown) record.arrays.push_back(std::move(array));
}

void add_facts(const InspectRecord& record, FactSink& facts) {
  facts.add("format", record.format);
  for (const FileArray& array : record.arrays) {
    const std::string before = array.name.empty() ? "" : array.name + ".";
    facts.add(before + "shape", fmt::format("{}", fmt::join(array.shape, ",")));
    facts.add(before + "dtype", array.type);
  }
  for (const auto& [key, value] : record.metadata) facts.add(key, value);
  if (!record.graph) return;
  for (const auto* values : {&record.graph->inputs, &record.graph->outputs}) {
    for (const GraphValue& value : *values) {
      facts.add(values == &record.graph->inputs ? "input" : "output", value.name);
      facts.add(value.name + ".shape", fmt::format("{}", fmt::join(value.shape, ",")));
      facts.add(value.name + ".dtype", value.type);
    }
  }
  for (const auto& [domain, version] : record.graph->opsets)
    facts.add("opset", domain.empty() ? fmt::to_string(version) : fmt::format("{} {}", domain, version));
  for (const auto& [name, count] : record.graph->operators) facts.add("operator", name);
  facts.add("producer", record.graph->producer);
}

}  // namespace sabath
