#include "sabath/verbs/inspect.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "formats/inspect/inspect_file.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/verbs/hdf5.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

// The rest of what HDF5 has is for `hdf5 inspect`.
void take_datasets(InspectRecord& record, const Hdf5InspectRecord& told) {
  constexpr std::size_t arrays_max = 10'000;
  for (const Hdf5Object& object : told.objects) {
    if (object.kind != "dataset") continue;
    ++record.arrays_total;
    if (record.arrays.size() >= arrays_max) continue;
    record.arrays.push_back(
        {object.path, object.type, object.shape.value_or(std::vector<std::uint64_t>{}), false, false, object.bytes});
  }
}

}  // namespace

InspectRecord inspect(Session& session, const InspectRequest& request, EventSink& events, std::stop_token stop) {
  if (request.file.empty()) throw Error(FailureKind::usage, "no file is named");
  InspectRecord record = inspect_file(request.file, [&] {
    if (!stop.stop_requested()) return;
    throw Error(FailureKind::interrupted,
                fmt::format("interrupted while reading {}", printable(request.file.native(), 4096)));
  });
  if (record.format == "hdf5") take_datasets(record, hdf5_inspect(session, {request.file}, events, std::move(stop)));
  return record;
}

template <>
struct Described<InspectRequest> {
  using Of = InspectRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(file, .help = "a data file", .required = true, .argument = "FILE"),
  };
};

template <>
struct Described<FileArray> {
  using Of = FileArray;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "in an archive or a safetensors file; else empty"),
      SABATH_FIELD(type, .help = "as the format names it, such as <f4 or BF16"),
      SABATH_FIELD(shape, .help = "empty: a scalar"),
      SABATH_FIELD(fortran_order, .help = "columns are together"),
      SABATH_FIELD(objects, .help = "a pickle: it is not data"),
      SABATH_FIELD(bytes, .help = "of its data", .unit = "bytes"),
  };
};

template <>
struct Described<FileFeature> {
  using Of = FileFeature;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "its name"),
      SABATH_FIELD(kind, .help = "bytes, float, int64 or empty"),
      SABATH_FIELD(values, .help = "how many it has"),
      SABATH_FIELD(bytes, .help = "of values of kind bytes", .unit = "bytes"),
  };
};

template <>
struct Described<FileRecords> {
  using Of = FileRecords;
  static constexpr Field table[] = {
      SABATH_FIELD(count, .help = "how many there are"),
      SABATH_FIELD(bytes, .help = "of all records, without frames", .unit = "bytes"),
      SABATH_FIELD(smallest, .help = "of the smallest record", .unit = "bytes"),
      SABATH_FIELD(largest, .help = "of the largest record", .unit = "bytes"),
      SABATH_FIELD(examples, .help = "records that are a tf.train.Example"),
      SABATH_FIELD(features, .help = "of the first example"),
  };
};

template <>
struct Described<GraphValue> {
  using Of = GraphValue;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "its name"),
      SABATH_FIELD(type, .help = "such as float32; of what is no tensor: sequence, map or optional"),
      SABATH_VALUE(
          "shape", [](const Of& value) { return value.shape_known ? std::optional(value.shape) : std::nullopt; },
          .help = "numbers and names, ? for what is not known; null: any shape"),
  };
};

template <>
struct Described<GraphFacts> {
  using Of = GraphFacts;
  static constexpr Field table[] = {
      SABATH_FIELD(ir_version, .help = "the version of the format"),
      SABATH_FIELD(producer, .help = "the program that wrote it"),
      SABATH_FIELD(name, .help = "the graph's name"),
      SABATH_FIELD(opsets, .help = "the version of each set of operators; ONNX's own has an empty name"),
      SABATH_FIELD(inputs, .help = "without the initializers"),
      SABATH_FIELD(outputs, .help = "what the graph gives"),
      SABATH_FIELD(operators, .help = "how many nodes of each there are, also in subgraphs"),
      SABATH_FIELD(nodes, .help = "how many there are, also in subgraphs"),
      SABATH_FIELD(functions, .help = "functions that the model defines"),
      SABATH_FIELD(initializers, .help = "tensors that it holds"),
      SABATH_FIELD(initializer_bytes, .help = "of their data", .unit = "bytes"),
      SABATH_FIELD(external_data, .help = "files that hold initializers; none is opened"),
      SABATH_FIELD(external_outside, .help = "one of them would lie outside the model's directory"),
  };
};

template <>
struct Described<FileCode> {
  using Of = FileCode;
  static constexpr Field table[] = {
      SABATH_FIELD(form, .help = "such as pickle, torch or npy"),
      SABATH_FIELD(where, .help = "the member of an archive", .null_if_empty = true),
      SABATH_FIELD(imports, .help = "names that loading it imports, such as os.system; ?: one that is computed"),
      SABATH_FIELD(executes, .help = "loading it runs code"),
      SABATH_FIELD(calls, .help = "loading it calls what it imports"),
      SABATH_FIELD(persistent_ids, .help = "it refers to what is not in the pickle"),
      SABATH_FIELD(protocol, .help = "of the pickle"),
      SABATH_FIELD(trouble, .help = "why it was not looked at to its end; null: it was", .null_if_empty = true),
  };
};

template <>
struct Described<InspectRecord> {
  using Of = InspectRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(file, .help = "the file"),
      SABATH_FIELD(bytes, .help = "its length", .unit = "bytes"),
      SABATH_FIELD(format, .help = "by its content, such as npy; unknown: it is none that this program knows"),
      SABATH_FIELD(packed, .help = "gzip: the format is that of what is packed", .null_if_empty = true),
      SABATH_FIELD(arrays, .help = "the first 10,000 arrays, tensors or datasets"),
      SABATH_FIELD(arrays_total, .help = "how many there are"),
      SABATH_FIELD(metadata, .help = "of safetensors and ONNX: the first 256"),
      SABATH_FIELD(records, .help = "of a TFRecord file"),
      SABATH_FIELD(graph, .help = "of an ONNX model"),
      SABATH_FIELD(code, .help = "what loading the file would run"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const InspectRecord& record) { return record_text(record); }

extern constexpr LibraryVerb inspect_call = described<inspect>("inspect");

}  // namespace sabath
