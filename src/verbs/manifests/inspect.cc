#include "sabath/inspect.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "formats/inspect_file.h"
#include "sabath/error.h"
#include "sabath/hdf5.h"
#include "sabath/path.h"
#include "verbs/records.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

Json json_of(const FileArray& array) {
  return {{"name", array.name},       {"type", array.type},
          {"shape", array.shape},     {"fortran_order", array.fortran_order},
          {"objects", array.objects}, {"bytes", array.bytes}};
}

Json json_of(const FileRecords& records) {
  Json json{{"count", records.count},     {"bytes", records.bytes},       {"smallest", records.smallest},
            {"largest", records.largest}, {"examples", records.examples}, {"features", Json::array()}};
  for (const FileFeature& feature : records.features) {
    json["features"].push_back(
        {{"name", feature.name}, {"kind", feature.kind}, {"values", feature.values}, {"bytes", feature.bytes}});
  }
  return json;
}

Json json_of(const std::vector<GraphValue>& values) {
  Json json = Json::array();
  for (const GraphValue& value : values) {
    json.push_back(
        {{"name", value.name}, {"type", value.type}, {"shape", value.shape_known ? Json(value.shape) : Json(nullptr)}});
  }
  return json;
}

template <typename Value>
Json object_of(const std::vector<std::pair<std::string, Value>>& pairs) {
  Json json = Json::object();
  for (const auto& [key, value] : pairs) json[key] = value;
  return json;
}

Json json_of(const GraphFacts& graph) {
  return {{"ir_version", graph.ir_version},
          {"producer", graph.producer},
          {"name", graph.name},
          {"opsets", object_of(graph.opsets)},
          {"inputs", json_of(graph.inputs)},
          {"outputs", json_of(graph.outputs)},
          {"operators", object_of(graph.operators)},
          {"nodes", graph.nodes},
          {"functions", graph.functions},
          {"initializers", graph.initializers},
          {"initializer_bytes", graph.initializer_bytes},
          {"external_data", graph.external_data},
          {"external_outside", graph.external_outside}};
}

Json json_of(const FileCode& code) {
  return {{"form", code.form},         {"where", text_or_null(code.where)},
          {"imports", code.imports},   {"executes", code.executes},
          {"calls", code.calls},       {"persistent_ids", code.persistent_ids},
          {"protocol", code.protocol}, {"trouble", text_or_null(code.trouble)}};
}

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

Json json_of(const InspectRecord& record) {
  Json json{{"schema", 1},
            {"file", record.file.string()},
            {"bytes", record.bytes},
            {"format", record.format},
            {"packed", text_or_null(record.packed)},
            {"arrays", Json::array()},
            {"arrays_total", record.arrays_total},
            {"metadata", object_of(record.metadata)},
            {"records", record.records ? json_of(*record.records) : Json(nullptr)},
            {"graph", record.graph ? json_of(*record.graph) : Json(nullptr)},
            {"code", Json::array()}};
  for (const FileArray& array : record.arrays) json["arrays"].push_back(json_of(array));
  for (const FileCode& code : record.code) json["code"].push_back(json_of(code));
  json["exit"] = record.exit;
  return json;
}

std::string to_json(const InspectRecord& record) { return text_of(json_of(record)); }

Json call_inspect(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const InspectRequest wanted{request.text("file")};
  request.finish();
  return json_of(inspect(session, wanted, events, std::move(stop)));
}

}  // namespace sabath
