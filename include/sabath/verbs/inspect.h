// What a data file is and what is in it, by its content: NumPy arrays, TFRecords, safetensors, ONNX models, archives of
// these, and the code that loading it would run. Heads are read, data only where a checksum is to be checked; nothing
// is loaded. A file may be hostile: reading is bounded. Throws Error{invalid} for a file that is damaged, {content} for
// one that is cut off, {not_found}, {storage}, {interrupted}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "sabath/event.h"

namespace sabath {

class Session;

struct FileArray {
  std::string name;  // in an archive or a safetensors file; else empty
  std::string type;  // as the format names it: "<f4", "BF16"
  std::vector<std::uint64_t> shape;
  bool fortran_order = false;
  bool objects = false;  // a pickle: it is not data
  std::uint64_t bytes = 0;
};

struct FileFeature {       // of the first record that is a tf.train.Example
  std::string name, kind;  // "bytes", "float", "int64", "empty"
  std::uint64_t values = 0;
  std::uint64_t bytes = 0;  // of kind "bytes"
};

struct FileRecords {
  std::uint64_t count = 0, bytes = 0, smallest = 0, largest = 0;  // bytes: of all records, without frames
  std::uint64_t examples = 0;                                     // of them, tf.train.Example
  std::vector<FileFeature> features;
};

struct GraphValue {
  std::string name, type;          // "float32"; of what is no tensor: "sequence", "map", "optional"
  std::vector<std::string> shape;  // numbers and names; "?": not known
  bool shape_known = false;
};

struct GraphFacts {
  std::uint64_t ir_version = 0;
  std::string producer, name;
  std::vector<std::pair<std::string, std::uint64_t>> opsets;     // domain, version; "": ONNX's own
  std::vector<GraphValue> inputs, outputs;                       // inputs: without the initializers
  std::vector<std::pair<std::string, std::uint64_t>> operators;  // "Conv", "com.example.Fold": how many, subgraphs too
  std::uint64_t nodes = 0, functions = 0, initializers = 0, initializer_bytes = 0;
  std::vector<std::string> external_data;  // the files that hold initializers; none is opened
  bool external_outside = false;           // one of them would lie outside the model's directory
};

struct FileCode {
  std::string form, where;           // "pickle", "torch", "npy", ...; the member of an archive
  std::vector<std::string> imports;  // "os.system"; "?": a name that is computed
  bool executes = false, calls = false, persistent_ids = false;
  int protocol = 0;
  std::string trouble;  // why it was not looked at to its end; empty: it was
};

struct InspectRequest {
  std::filesystem::path file;
};
struct InspectRecord {
  std::filesystem::path file;
  std::uint64_t bytes = 0;
  std::string format;             // "npy", "npz", "zip", "tfrecord", "safetensors", "onnx", "pickle", "hdf5", "unknown"
  std::string packed;             // "gzip": that, and what is unpacked is `format`
  std::vector<FileArray> arrays;  // the first 10,000
  std::uint64_t arrays_total = 0;
  std::vector<std::pair<std::string, std::string>> metadata;  // of safetensors and ONNX: the first 256
  std::optional<FileRecords> records;
  std::optional<GraphFacts> graph;
  std::vector<FileCode> code;
  int exit = 0;
};

[[nodiscard]] InspectRecord inspect(Session& session, const InspectRequest& request, EventSink& events,
                                    std::stop_token stop = {});
[[nodiscard]] std::string to_json(const InspectRecord& record);

}  // namespace sabath
