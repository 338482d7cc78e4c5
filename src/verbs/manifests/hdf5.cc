#include "sabath/hdf5.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "hdf5/own_process.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/manifests/hdf5_objects.h"
#include "verbs/records.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

std::string_view hashed_kind(char kind) {
  switch (kind) {
    case 'g':
      return "group";
    case 'd':
      return "dataset";
    case 't':
      return "type";
    case 'a':
      return "alias";
    case 'l':
      return "soft_link";
    default:
      return "external_link";
  }
}

SelectOptions select_options(const Hdf5SelectRequest& request) {
  SelectOptions options;
  switch (request.filter) {
    case Hdf5SelectRequest::Filter::none:
      options.filter = SelectOptions::Filter::none;
      break;
    case Hdf5SelectRequest::Filter::gzip:
      options.filter = SelectOptions::Filter::gzip;
      break;
    case Hdf5SelectRequest::Filter::zstd:
      options.filter = SelectOptions::Filter::zstd;
      break;
    case Hdf5SelectRequest::Filter::keep:
      options.filter = SelectOptions::Filter::keep;
      break;
  }
  if (!request.blocks.empty()) options.blocks = parse_block_shape(request.blocks);
  options.blocks_as_groups = request.blocks_as_groups;
  options.rest = request.rest;
  if (request.source_digest) {
    const auto status = try_stat(request.file);
    options.source_digest =
        Digest{ContentKind::file, status ? static_cast<std::uint64_t>(status->st_size) : 0, *request.source_digest};
  }
  options.unfinished = unfinished_name(request.output, "new");
  return options;
}

void check_named(const fs::path& file) {
  if (file.empty()) throw Error(FailureKind::usage, "no HDF5 file is named");
}

// Compares the files themselves: one file may have two names.
void refuse_same_file(const fs::path& source, const fs::path& output) {
  const auto from = try_stat(source), to = try_stat(output);
  if (!from || !to || from->st_dev != to->st_dev || from->st_ino != to->st_ino) return;
  throw Error(FailureKind::usage,
              fmt::format("cannot write the selection to {}: it is the file that is read, and would be lost",
                          printable(output.native(), 4096)),
              "name another file for the selection");
}

}  // namespace

Hdf5InspectRecord hdf5_inspect(Session& session, const Hdf5InspectRequest& request, EventSink&, std::stop_token stop) {
  check_named(request.file);
  const Json told = Hdf5(session.settings().program).inspect(request.file, stop);
  Hdf5InspectRecord record;
  record.file = request.file;
  record.bytes = told.at("bytes");
  for (const Json& object : told.at("objects")) record.objects.push_back(parse_hdf5_object(object));
  record.objects_total = told.at("objects_total");
  return record;
}

Hdf5SelectRecord hdf5_select(Session& session, const Hdf5SelectRequest& request, EventSink&, std::stop_token stop) {
  check_named(request.file);
  if (request.output.empty()) throw Error(FailureKind::usage, "where the selection is to be written is not said");
  if (request.selections.empty() && !request.rest) throw Error(FailureKind::usage, "nothing of the file is selected");
  refuse_same_file(request.file, request.output);
  Selections selections;
  for (const std::string& text : request.selections) selections.push_back(parse_selection(text));
  SelectedFile made =
      Hdf5(session.settings().program).select(request.file, selections, request.output, select_options(request), stop);
  Hdf5SelectRecord record{.source = request.file,
                          .out = request.output,
                          .files = std::move(made.files),
                          .left_out = std::move(made.left_out)};
  record.bytes_read = made.bytes_read;
  record.bytes_selected = made.bytes_selected;
  record.bytes_written = made.bytes_written;
  record.seconds = made.seconds;
  return record;
}

Hdf5HashRecord hdf5_hash(Session& session, const Hdf5HashRequest& request, EventSink&, std::stop_token stop) {
  check_named(request.file);
  const LogicalHash hash = Hdf5(session.settings().program).hash(request.file, request.objects, stop);
  Hdf5HashRecord record;
  record.file = request.file;
  record.hash = hash.text();
  record.bytes = hash.bytes;
  for (const ObjectHash& object : hash.objects) {
    const bool hashed = object.kind == 'g' || object.kind == 'd' || object.kind == 't';
    record.objects.push_back({printable(object.path, 65536), std::string(hashed_kind(object.kind)),
                              hashed ? std::optional(object.hash) : std::nullopt, object.bytes});
  }
  return record;
}

Json json_of(const Hdf5InspectRecord& record) {
  Json json{{"schema", 1}, {"file", record.file.string()}, {"bytes", record.bytes}, {"objects", Json::array()}};
  for (const Hdf5Object& object : record.objects) json["objects"].push_back(json_of(object));
  json["objects_total"] = record.objects_total;
  json["exit"] = record.exit;
  return json;
}

Json json_of(const Hdf5SelectRecord& record) {
  Json json{{"schema", 1},
            {"source", record.source.string()},
            {"out", record.out.string()},
            {"bytes_read", record.bytes_read},
            {"bytes_selected", record.bytes_selected},
            {"bytes_written", record.bytes_written},
            {"seconds", record.seconds},
            {"files", Json::array()},
            {"left_out", record.left_out}};
  for (const auto& file : record.files) json["files"].push_back(file.string());
  json["exit"] = record.exit;
  return json;
}

Json json_of(const Hdf5HashRecord& record) {
  Json json{{"schema", 1}, {"file", record.file.string()}, {"hash", record.hash}, {"bytes", record.bytes}};
  json["objects"] = Json::array();
  for (const auto& object : record.objects) {
    json["objects"].push_back({{"path", object.path},
                               {"kind", object.kind},
                               {"hash", object.hash ? Json(object.hash->hex()) : Json(nullptr)},
                               {"bytes", object.bytes}});
  }
  json["exit"] = record.exit;
  return json;
}

std::string to_json(const Hdf5InspectRecord& record) { return text_of(json_of(record)); }
std::string to_json(const Hdf5SelectRecord& record) { return text_of(json_of(record)); }
std::string to_json(const Hdf5HashRecord& record) { return text_of(json_of(record)); }

Json call_hdf5_inspect(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const Hdf5InspectRequest wanted{request.text("file")};
  request.finish();
  return json_of(hdf5_inspect(session, wanted, events, std::move(stop)));
}

Json call_hdf5_select(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  Hdf5SelectRequest wanted;
  wanted.file = request.text("file");
  wanted.selections = request.some_texts("selections");
  wanted.output = request.text("output");
  const std::string filter = request.try_text("filter").value_or("none");
  const std::string_view filters[] = {"none", "gzip", "zstd", "keep"};  // in the order of Filter
  const auto found = std::ranges::find(filters, filter);
  if (found == std::end(filters)) request.fail("filter", "is none of none, gzip, zstd and keep");
  wanted.filter = static_cast<Hdf5SelectRequest::Filter>(found - std::begin(filters));
  wanted.blocks = request.try_text("blocks").value_or("");
  const std::string as = request.try_text("as").value_or("files");
  if (as != "files" && as != "groups") request.fail("as", "is none of files and groups");
  wanted.blocks_as_groups = as == "groups";
  wanted.rest = request.flag("rest");
  if (const auto digest = request.try_text("source_digest")) {
    wanted.source_digest = Sha256::try_parse(*digest);
    if (!wanted.source_digest) request.fail("source_digest", "is not a SHA-256 in hexadecimal digits");
  }
  request.finish();
  return json_of(hdf5_select(session, wanted, events, std::move(stop)));
}

Json call_hdf5_hash(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const Hdf5HashRequest wanted{.file = request.text("file")};
  request.finish();
  return json_of(hdf5_hash(session, wanted, events, std::move(stop)));
}

}  // namespace sabath
