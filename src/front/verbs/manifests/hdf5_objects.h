// The objects of an HDF5 file: from the JSON that another process sends to values, and their description, by which they
// are written again. Pure; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "fields/fields.h"
#include "sabath/verbs/hdf5.h"

namespace sabath {

[[nodiscard]] Hdf5Object parse_hdf5_object(const Json& json);  // as hdf5/inspect.h makes it

template <>
struct Described<Hdf5Attribute> {
  using Of = Hdf5Attribute;
  static Json value(const Of& attribute);
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "its name"),
      SABATH_FIELD(type, .help = "of its elements, such as float32 big-endian"),
      SABATH_FIELD(shape, .help = "empty: a scalar; null: it has no data"),
      SABATH_VALUE("value", value, .help = "what it holds: a number, a text or a list"),
      SABATH_FIELD(cut, .help = "there is more than `value` shows"),
  };
};

template <>
struct Described<Hdf5Filter> {
  using Of = Hdf5Filter;
  static constexpr Field table[] = {
      SABATH_FIELD(id, .help = "its registered number"),
      SABATH_FIELD(name, .help = "its name; may be empty"),
      SABATH_FIELD(values, .help = "its parameters"),
      SABATH_FIELD(optional, .help = "data may be there without it"),
      SABATH_FIELD(available, .help = "this program can read what it wrote"),
  };
};

template <>
struct Described<Hdf5Source> {
  using Of = Hdf5Source;
  static constexpr Field table[] = {
      SABATH_FIELD(file, .help = "the file that has the data; it is not opened"),
      SABATH_FIELD(dataset, .help = "of a virtual dataset: the dataset in that file", .absent_if_empty = true),
  };
};

template <>
struct Described<Hdf5Object> {
  using Of = Hdf5Object;
  static bool has_attributes(const Of& object) {
    return object.kind == "group" || object.kind == "dataset" || object.kind == "type";
  }
  static bool has_type(const Of& object) { return object.kind == "dataset" || object.kind == "type"; }
  static bool is_dataset(const Of& object) { return object.kind == "dataset"; }
  static bool has_shape(const Of& object) { return is_dataset(object) && object.layout != "virtual"; }
  static bool is_stored_here(const Of& object) { return has_shape(object) && object.layout != "external"; }
  static bool is_elsewhere(const Of& object) { return is_dataset(object) && !is_stored_here(object); }
  static bool is_chunked(const Of& object) { return is_dataset(object) && object.layout == "chunked"; }
  static Json fill(const Of& object);

  static constexpr Field table[] = {
      SABATH_FIELD(path, .help = "where it is in the file"),
      SABATH_FIELD(kind, .help = "group, dataset, type, alias, soft_link, external_link or other"),
      SABATH_FIELD(file, .help = "of an external link: the file that it leads into", .null_if_empty = true,
                   .absent_if_empty = true),
      SABATH_FIELD(target, .help = "of a link or an alias: where it leads", .null_if_empty = true,
                   .absent_if_empty = true),
      SABATH_FIELD(type, .help = "of a dataset and a type, such as float32 big-endian", .only_if = SABATH_IF(has_type)),
      SABATH_FIELD(layout, .help = "of a dataset: compact, contiguous, chunked, external or virtual",
                   .only_if = SABATH_IF(is_dataset)),
      SABATH_FIELD(shape, .help = "of a dataset that is not virtual; empty: a scalar; null: it has no data",
                   .only_if = SABATH_IF(has_shape)),
      SABATH_FIELD(shape_max, .help = "how far it may grow; of an extent, null: without limit",
                   .only_if = SABATH_IF(has_shape)),
      SABATH_FIELD(bytes, .help = "without filters", .unit = "bytes", .only_if = SABATH_IF(has_shape)),
      SABATH_FIELD(sources, .help = "of an external or a virtual dataset: where its data are",
                   .only_if = SABATH_IF(is_elsewhere)),
      SABATH_FIELD(stored_bytes, .help = "with filters", .unit = "bytes", .only_if = SABATH_IF(is_stored_here)),
      SABATH_FIELD(chunk, .help = "the shape of a chunk", .only_if = SABATH_IF(is_chunked)),
      SABATH_FIELD(filters, .help = "in the order in which they are applied", .only_if = SABATH_IF(is_stored_here)),
      SABATH_VALUE("fill", fill, .help = "the value where nothing was written; null: none was set",
                   .only_if = SABATH_IF(is_stored_here)),
      SABATH_FIELD(attributes, .help = "the first 256 of a group, a dataset or a type",
                   .only_if = SABATH_IF(has_attributes)),
      SABATH_FIELD(attributes_total, .help = "how many it has", .only_if = SABATH_IF(has_attributes)),
  };
};

}  // namespace sabath
