// HDF5 files: what is in one, a part of one as a file of its own, and the hash of its data (docs/hdf5.md). A file may
// be hostile: it is read by a process of its own. Nothing outside the file is opened. Throws Error{invalid} for what is
// damaged or no HDF5 file, {content} for what is cut off, {not_found}, {usage}, {space}, {storage}, {interrupted}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/digest.h"
#include "sabath/event.h"

namespace sabath {

class Session;

struct Hdf5Attribute {
  std::string name, type;
  std::optional<std::vector<std::uint64_t>> shape;  // absent: it has no data; empty: a scalar
  std::string value;                                // as JSON
  bool cut = false;                                 // there is more than `value` shows
};

struct Hdf5Filter {
  int id = 0;
  std::string name;
  std::vector<unsigned> values;
  bool optional = false;
  bool available = false;  // here
};

struct Hdf5Source {  // where data stand that are not in the file; it is not followed
  std::string file;
  std::optional<std::string> dataset;  // of a virtual dataset
};

struct Hdf5Object {
  std::string path;
  std::string kind;          // "group", "dataset", "type", "alias", "soft_link", "external_link", "other"
  std::string file, target;  // where a link leads; file: of an external one
  std::string type;          // of a dataset and a type, such as "float32 big-endian"
  // Of a dataset. A virtual one has no shape and no bytes: to know them, other files would be opened.
  std::string layout;                               // "compact", "contiguous", "chunked", "external", "virtual"
  std::optional<std::vector<std::uint64_t>> shape;  // absent: no data; empty: a scalar
  std::optional<std::vector<std::optional<std::uint64_t>>> shape_max;  // an absent extent: unlimited
  std::uint64_t bytes = 0, stored_bytes = 0;                           // without filters, and with them
  std::vector<std::uint64_t> chunk;                                    // of a chunked one
  std::vector<Hdf5Filter> filters;
  std::string fill = "null";              // as JSON; null: none was set
  std::vector<Hdf5Source> sources;        // of an external or virtual one
  std::vector<Hdf5Attribute> attributes;  // of groups, datasets, types: the first 256
  std::uint64_t attributes_total = 0;
};

struct Hdf5InspectRequest {
  std::filesystem::path file;
};
struct Hdf5InspectRecord {
  std::filesystem::path file;
  std::uint64_t bytes = 0;
  std::vector<Hdf5Object> objects;  // the first 100,000, parents before children
  std::uint64_t objects_total = 0;
  int exit = 0;
};

// The same selection of the same data gives the same bytes. OUT appears when it is whole.
struct Hdf5SelectRequest {
  enum class Filter { none, gzip, zstd, keep };  // keep: the chunks and filters of the source
  enum class Blocks { files, groups };           // what a block becomes; groups: of one file
  std::filesystem::path file;
  std::vector<std::string> selections;  // such as "full[:,:,:,0]"
  std::filesystem::path output;         // a file; of blocks in files a directory, absent or empty
  Filter filter = Filter::none;
  std::string blocks;  // such as "128,128,4": cut the first selection into blocks of this shape
  Blocks blocks_as = Blocks::files;
  bool rest = false;                    // also everything that was not named, whole
  std::optional<Sha256> source_digest;  // of the source's bytes, for the attribute that says where the data come from
};
struct Hdf5SelectRecord {
  std::filesystem::path source, out;
  std::uint64_t bytes_read = 0, bytes_selected = 0;  // of datasets, without filters
  std::uint64_t bytes_written = 0;
  double seconds = 0;
  std::vector<std::filesystem::path> files;
  std::vector<std::string> left_out;  // "/x: why"
  int exit = 0;
};

struct Hdf5HashRequest {
  std::filesystem::path file;
  bool objects = true;  // also of each object
};
struct Hdf5HashRecord {
  struct Object {
    std::string path;
    std::string kind;            // "group", "dataset", "type", "alias", "soft_link", "external_link"
    std::optional<Sha256> hash;  // of the first three
    std::uint64_t bytes = 0;     // of a dataset, in canonical form
  };
  std::filesystem::path file;
  std::string hash;  // "hdf5-v1:<hex>"
  std::uint64_t bytes = 0;
  std::vector<Object> objects;
  int exit = 0;
};

[[nodiscard]] Hdf5InspectRecord hdf5_inspect(Session& session, const Hdf5InspectRequest& request, EventSink& events,
                                             std::stop_token stop = {});
[[nodiscard]] Hdf5SelectRecord hdf5_select(Session& session, const Hdf5SelectRequest& request, EventSink& events,
                                           std::stop_token stop = {});
[[nodiscard]] Hdf5HashRecord hdf5_hash(Session& session, const Hdf5HashRequest& request, EventSink& events,
                                       std::stop_token stop = {});

[[nodiscard]] std::string to_json(const Hdf5InspectRecord& record);
[[nodiscard]] std::string to_json(const Hdf5SelectRecord& record);
[[nodiscard]] std::string to_json(const Hdf5HashRecord& record);

}  // namespace sabath
