#include "sabath/verbs/hdf5.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/wording.h"
#include "hdf5/own_process.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/manifests/hdf5_objects.h"
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
  options.blocks_as_groups = request.blocks_as == Hdf5SelectRequest::Blocks::groups;
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
  if (request.output.empty()) {
    throw Error(FailureKind::usage, fmt::format("hdf5 select needs {} OUT", option_text("output")));
  }
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

template <>
struct WordsOf<Hdf5SelectRequest::Filter> {
  using Filter = Hdf5SelectRequest::Filter;
  static constexpr std::string_view words = "none|gzip|zstd|keep";
  static constexpr std::string_view all[] = {"none", "gzip", "zstd", "keep"};  // in the order of Filter
  static std::string_view text(Filter filter) { return all[static_cast<std::size_t>(filter)]; }
  static std::optional<Filter> parse(std::string_view text) {
    return static_cast<Filter>(std::ranges::find(all, text) - all);
  }
};

template <>
struct WordsOf<Hdf5SelectRequest::Blocks> {
  using Blocks = Hdf5SelectRequest::Blocks;
  static constexpr std::string_view words = "files|groups";
  static std::string_view text(Blocks blocks) { return blocks == Blocks::groups ? "groups" : "files"; }
  static std::optional<Blocks> parse(std::string_view text) {
    return text == "groups" ? Blocks::groups : Blocks::files;
  }
};

template <>
struct Described<Hdf5InspectRequest> {
  using Of = Hdf5InspectRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(file, .help = "an HDF5 file", .required = true, .argument = "FILE"),
  };
};

template <>
struct Described<Hdf5InspectRecord> {
  using Of = Hdf5InspectRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(file, .help = "the file"),
      SABATH_FIELD(bytes, .help = "its length", .unit = "bytes"),
      SABATH_FIELD(objects, .help = "the first 100,000, parents before children"),
      SABATH_FIELD(objects_total, .help = "how many it has"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

template <>
struct Described<Hdf5SelectRequest> {
  using Of = Hdf5SelectRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(file, .help = "an HDF5 file", .required = true, .argument = "FILE"),
      SABATH_FIELD(selections, .help = "full[:,:,:,0], group/x[10:20:2, ...], or a whole dataset or group",
                   .required = true, .argument = "SELECTION"),
      SABATH_FIELD(output, .help = "the HDF5 file to write; of blocks in files, the directory", .required = true,
                   .letter = 'o', .value = "OUT"),
      SABATH_FIELD(filter, .help = "how the data are stored; keep: in the chunks and filters of FILE (default: none)"),
      SABATH_FIELD(blocks, .help = "cut the first SELECTION into blocks of this shape", .value = "N,N,..."),
      SABATH_FIELD_AS("as", blocks_as, .help = "what a block becomes (default: files)"),
      SABATH_FIELD(rest, .help = "keep everything that is not named, too, whole"),
      SABATH_FIELD(source_digest, .help = "what is known of FILE's content, for the provenance attribute",
                   .value = "SHA256"),
  };
};

template <>
struct Described<Hdf5SelectRecord> {
  using Of = Hdf5SelectRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(source, .help = "the file that was read"),
      SABATH_FIELD(out, .help = "the file, or the directory, that was written"),
      SABATH_FIELD(bytes_read, .help = "of datasets, without filters", .unit = "bytes"),
      SABATH_FIELD(bytes_selected, .help = "of datasets, without filters", .unit = "bytes"),
      SABATH_FIELD(bytes_written, .help = "of all files", .unit = "bytes"),
      SABATH_FIELD(seconds, .help = "how long it took", .unit = "seconds"),
      SABATH_FIELD(files, .help = "that were written"),
      SABATH_FIELD(left_out, .help = "objects that were not copied, each with the reason"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

template <>
struct Described<Hdf5HashRequest> {  // the hashes of objects are always asked for
  using Of = Hdf5HashRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(file, .help = "an HDF5 file", .required = true, .argument = "FILE"),
  };
};

template <>
struct Described<Hdf5HashRecord::Object> {
  using Of = Hdf5HashRecord::Object;
  static constexpr Field table[] = {
      SABATH_FIELD(path, .help = "where it is in the file"),
      SABATH_FIELD(kind, .help = "group, dataset, type, alias, soft_link or external_link"),
      SABATH_VALUE(
          "hash", [](const Of& object) { return object.hash ? std::optional(object.hash->hex()) : std::nullopt; },
          .help = "64 digits; null: aliases and links have none"),
      SABATH_FIELD(bytes, .help = "of a dataset, in canonical form", .unit = "bytes"),
  };
};

template <>
struct Described<Hdf5HashRecord> {
  using Of = Hdf5HashRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(file, .help = "the file"),
      SABATH_FIELD(hash, .help = "hdf5-v1: and 64 digits"),
      SABATH_FIELD(bytes, .help = "of all datasets, in canonical form", .unit = "bytes"),
      SABATH_FIELD(objects, .help = "the hash of each object"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const Hdf5InspectRecord& record) { return record_text(record); }
std::string to_json(const Hdf5SelectRecord& record) { return record_text(record); }
std::string to_json(const Hdf5HashRecord& record) { return record_text(record); }

extern constexpr LibraryVerb hdf5_hash_call = described<hdf5_hash>("hdf5 hash");
extern constexpr LibraryVerb hdf5_inspect_call = described<hdf5_inspect>("hdf5 inspect");
extern constexpr LibraryVerb hdf5_select_call = described<hdf5_select>("hdf5 select");

}  // namespace sabath
