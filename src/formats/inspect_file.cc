#include "formats/inspect_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/crc32c.h"
#include "formats/find_code.h"
#include "formats/gzip.h"
#include "formats/npy.h"
#include "formats/onnx.h"
#include "formats/protobuf.h"
#include "formats/safetensors.h"
#include "formats/tfrecord.h"
#include "formats/zip.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t arrays_shown = 10'000, metadata_shown = 256, look_bytes = 16;

using Progress = std::function<void()>;

bool is_hdf5(std::string_view begin) { return begin.starts_with("\x89HDF\r\n\x1a\n"); }

bool is_tfrecord(std::string_view begin) {
  return begin.size() >= 12 && mask_crc(crc32c(begin.substr(0, 8))) == little_endian(begin.substr(8), 4);
}

void add_array(InspectRecord& record, FileArray array) {
  ++record.arrays_total;
  if (record.arrays.size() < arrays_shown) record.arrays.push_back(std::move(array));
}

FileArray array_of(const Npy& npy, std::string_view name) {
  return {printable(name), npy.descr, npy.shape, npy.fortran_order, npy.objects, npy.data_bytes};
}

void take_archive(InspectRecord& record, const std::filesystem::path& file) {
  const ZipArchive archive(file);
  record.format = "zip";
  for (const ZipMember& member : archive.members()) {
    std::string begin(std::min<std::uint64_t>(look_bytes, member.bytes), '\0');
    begin.resize(read_full(*archive.open(member), begin));
    if (!is_npy(begin)) continue;  // NumPy, too, goes by the first bytes
    record.format = "npz";
    begin.resize(std::min<std::uint64_t>(npy_header_bytes(begin), member.bytes));
    begin.resize(read_full(*archive.open(member), begin));
    const Npy npy = parse_npy_header(begin, file.native() + ":" + member.name);
    if (!npy.objects && npy.data_offset + npy.data_bytes != member.bytes) {
      throw Error(FailureKind::invalid,
                  fmt::format("cannot read {}:{}: its header promises {} bytes of data, and there are {}",
                              printable(file.native(), 4096), printable(member.name), npy.data_bytes,
                              member.bytes - npy.data_offset));
    }
    std::string_view name = member.name;
    if (name.ends_with(".npy")) name.remove_suffix(4);
    add_array(record, array_of(npy, name));
  }
}

void take_records(InspectRecord& record, ByteSource& source, const Progress& progress) {
  record.format = "tfrecord";
  FileRecords facts;
  TfrecordReader reader(source, record.file.native());
  while (const auto one = reader.next(progress)) {
    facts.smallest = facts.count == 0 ? one->bytes : std::min(facts.smallest, one->bytes);
    facts.largest = std::max(facts.largest, one->bytes);
    facts.bytes += one->bytes;
    ++facts.count;
    const auto features = one->whole() ? try_parse_example(one->data) : std::nullopt;
    if (!features || features->empty()) continue;
    if (facts.examples++ > 0) continue;
    for (const ExampleFeature& feature : *features) {
      facts.features.push_back(
          {printable(feature.name), std::string(name_of(feature.kind)), feature.values, feature.bytes});
    }
  }
  record.records = std::move(facts);
}

void take_safetensors(InspectRecord& record, const std::filesystem::path& file) {
  record.format = "safetensors";
  SafeTensors tensors = read_safetensors(file);
  for (const SafeTensor& tensor : tensors.tensors) {
    add_array(record,
              {printable(tensor.name), printable(tensor.dtype), tensor.shape, false, false, tensor.end - tensor.begin});
  }
  if (tensors.metadata.size() > metadata_shown) tensors.metadata.resize(metadata_shown);
  for (const auto& [key, value] : tensors.metadata)
    record.metadata.emplace_back(printable(key), printable(value, 1024));
}

// What lies under gzip: TFRecords, an array, or what is not known.
void take_packed(InspectRecord& record, const std::filesystem::path& file, const Progress& progress) {
  record.packed = "gzip";
  const auto unpack = [&](const auto& take) {
    FileBytes packed(file);
    InflateSource source(packed, InflateSource::Form::gzip, printable(file.native(), 4096));
    take(source);
  };
  std::string begin(look_bytes, '\0');
  unpack([&](ByteSource& source) { begin.resize(read_full(source, begin)); });
  if (is_tfrecord(begin)) {
    unpack([&](ByteSource& source) { take_records(record, source, progress); });
  } else if (is_npy(begin)) {
    record.format = "npy";
    begin.resize(npy_header_bytes_max);
    unpack([&](ByteSource& source) { begin.resize(read_full(source, begin)); });
    add_array(record, array_of(parse_npy_header(begin, file.native()), ""));
  }
}

void take_onnx(InspectRecord& record, const std::filesystem::path& file, const Progress& progress) {
  record.format = "onnx";
  OnnxModel model = read_onnx(file, progress);
  record.graph = std::move(model.graph);
  record.metadata = std::move(model.metadata);
}

void take_code(InspectRecord& record, const std::filesystem::path& file, const Progress& progress) {
  for (CodeInFile& code : find_code(file, progress)) {
    if (record.format == "unknown") record.format = code.form;
    PickleFacts& facts = code.facts;
    record.code.push_back({code.form, code.where, std::move(facts.imports), facts.executes, facts.calls,
                           facts.persistent_ids, facts.protocol, std::move(facts.trouble)});
  }
}

}  // namespace

InspectRecord inspect_file(const std::filesystem::path& file, const Progress& on_progress) {
  InspectRecord record;
  record.file = file;
  record.format = "unknown";
  std::string begin(look_bytes, '\0');
  {
    FileBytes source(file);
    record.bytes = source.size_bytes();
    begin.resize(read_full(source, begin));
  }
  if (is_hdf5(begin)) {
    record.format = "hdf5";
  } else if (is_npy(begin)) {
    record.format = "npy";
    add_array(record, array_of(read_npy_header(file), ""));
  } else if (is_zip(begin)) {
    take_archive(record, file);
  } else if (is_gzip(begin)) {
    take_packed(record, file, on_progress);
  } else if (is_tfrecord(begin)) {
    FileBytes source(file);
    take_records(record, source, on_progress);
  } else if (may_be_safetensors(begin, record.bytes)) {
    take_safetensors(record, file);
  } else if (may_be_onnx(file)) {
    take_onnx(record, file, on_progress);
  }
  take_code(record, file, on_progress);
  return record;
}

}  // namespace sabath
