#include "hdf5/logical_hash.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "hdf5/elements.h"
#include "hdf5/source.h"
#include "hdf5/tiles.h"
#include "hdf5/tree.h"
#include "hdf5/type.h"
#include "hdf5/value.h"
#include "manifest/file_tree.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using namespace h5;

constexpr std::string_view file_tag{"SABATH-hdf5-f1\0\0", 16}, object_tag{"SABATH-hdf5-o1\0\0", 16};
constexpr std::uint64_t flat_tile_bytes = 4 << 20, variable_tile_bytes = 1 << 20, chunk_row_bytes_max = 64 << 20;
constexpr std::size_t hash_cache_bytes = 256 << 20;
constexpr std::uint64_t claimed_bytes_max = std::uint64_t{64} << 30, claimed_ratio_max = 4096;

// The bytes of a record, as the document writes them.
class Record {
 public:
  explicit Record(std::string_view tag) : bytes_(tag) {}

  void byte(char c) { bytes_ += c; }
  void number(std::uint64_t value) {
    for (int i = 0; i < 8; ++i, value >>= 8) bytes_ += static_cast<char>(value & 0xff);
  }
  void text(std::string_view text) {
    number(text.size());
    bytes_ += text;
  }
  void hash(const Sha256& hash) { bytes_.append(reinterpret_cast<const char*>(hash.bytes().data()), Sha256::size); }
  void shape(const Shape& shape) {
    byte(shape.kind == H5S_NULL ? 'n' : 's');
    if (shape.kind == H5S_NULL) return;
    number(shape.dims.size());
    for (const std::uint64_t extent : shape.dims) number(extent);
  }
  void data(const Digest& digest) {
    number(digest.size_bytes);
    hash(digest.hash);
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Feeds elements as their canonical bytes.
class ElementHasher {
 public:
  ElementHasher(const Type& type, const Paths& paths)
      : type_(type), paths_(paths), flat_(type.flat()), size_(type.memory_size()) {}

  void update(const Elements& elements) {
    if (flat_) return hasher_.update({elements.data(), elements.size_bytes()});
    for (std::size_t i = 0; i < elements.count(); ++i) {
      append_canonical(type_, elements.data() + i * size_, paths_, text_);
      if (text_.size() >= chunk_size_bytes) flush();
    }
    flush();
  }
  [[nodiscard]] Digest finish() { return hasher_.finish().digest; }

 private:
  void flush() {
    hasher_.update(std::as_bytes(std::span(text_)));
    text_.clear();
  }

  const Type& type_;
  const Paths& paths_;
  bool flat_;
  std::size_t size_;
  std::string text_;
  FileHasher hasher_;
};

// Tiles that follow each other in C order: whole rows, of whole chunks where a row of them can be held.
TilePlan plan_of(const Dataset& dataset, std::size_t element_bytes, bool variable) {
  TilePlan plan;
  plan.extents = dataset.shape.dims;
  plan.unit.assign(plan.extents.size(), 1);
  plan.element_bytes = element_bytes;
  plan.tile_bytes = variable ? variable_tile_bytes : flat_tile_bytes;
  for (const std::uint64_t extent : plan.extents) plan.ranges.push_back({0, extent, 1, false});
  if (dataset.chunk.empty() || variable) return plan;
  std::uint64_t row = dataset.chunk[0] * element_bytes;
  for (std::size_t a = 1; a < plan.extents.size(); ++a) {
    if (__builtin_mul_overflow(row, plan.extents[a], &row)) return plan;
  }
  if (row > chunk_row_bytes_max) return plan;
  plan.unit[0] = dataset.chunk[0];
  plan.tile_bytes = std::max(plan.tile_bytes, row);
  return plan;
}

void refuse_claims(const Dataset& dataset, std::uint64_t bytes) {
  const std::uint64_t stored = H5Dget_storage_size(dataset.id.get());
  if (bytes <= claimed_bytes_max || bytes / claimed_ratio_max <= stored) return;
  throw Error(FailureKind::invalid,
              fmt::format("cannot hash {}: it claims {} of data and stores {}", dataset.name, format_bytes(bytes),
                          format_bytes(stored)),
              "the file may be hostile: do not trust it");
}

class Hashing {
 public:
  Hashing(const std::filesystem::path& file, std::stop_token stop, const std::function<void()>& on_progress)
      : source_(file), stop_(std::move(stop)), on_progress_(on_progress) {}

  LogicalHash run() {
    std::vector<Node> nodes;
    walk(source_, [&](const Node& node) {
      if (node.kind != NodeKind::alias && node.address != HADDR_UNDEF) paths_.emplace(node.address, node.path);
      nodes.push_back(node);
    });
    Record head(file_tag);
    head.number(nodes.size());
    StreamHash whole("sha256");
    whole.update(std::as_bytes(std::span(head.bytes())));
    for (const Node& node : nodes) whole.update(std::as_bytes(std::span(entry(node).bytes())));
    result_.hash = whole.finish_sha256();
    return std::move(result_);
  }

 private:
  Record entry(const Node& node) {
    on_progress_();
    ObjectHash object{node.path, kind_of(node), {}, 0};
    Record record{""};
    record.text(node.path);
    record.byte(object.kind);
    if (node.kind == NodeKind::external_link) record.text(node.file);
    if (object.kind == 'a' || object.kind == 'l' || object.kind == 'x') {
      record.text(node.target);
    } else {
      object.hash = hash_object(node, object);
      record.hash(object.hash);
    }
    result_.bytes += object.bytes;
    result_.objects.push_back(std::move(object));
    return record;
  }

  [[nodiscard]] char kind_of(const Node& node) const {
    switch (node.kind) {
      case NodeKind::group:
        return 'g';
      case NodeKind::dataset:
        return 'd';
      case NodeKind::type:
        return 't';
      case NodeKind::alias:
        return 'a';
      case NodeKind::soft_link:
        return 'l';
      case NodeKind::external_link:
        return 'x';
      case NodeKind::other:
        break;
    }
    throw Error(FailureKind::invalid,
                fmt::format("cannot hash {}: {} has no logical form", source_.label(node.path), node.target));
  }

  Sha256 hash_object(const Node& node, ObjectHash& object) {
    const std::string label = source_.label(node.path);
    Record record(object_tag);
    record.byte(object.kind);
    if (node.kind == NodeKind::dataset) {
      const Dataset dataset = open_dataset(source_, node.path, hash_cache_bytes);
      object.bytes = add_dataset(dataset, record);
      add_attributes(dataset.id.get(), label, record);
    } else {
      const Handle id = own(H5Oopen(source_.id(), node.path.c_str(), H5P_DEFAULT), H5Oclose, "open", label);
      if (node.kind == NodeKind::type) record.text(canonical(parse_type(id.get(), label), label));
      add_attributes(id.get(), label, record);
    }
    return sha256(record.bytes());
  }

  std::uint64_t add_dataset(const Dataset& dataset, Record& record) {
    const Type type = parse_type(dataset.type.get(), dataset.name);
    record.text(canonical(type, dataset.name));
    record.shape(dataset.shape);
    const Digest digest = hash_data(dataset, type);
    record.data(digest);
    return digest.size_bytes;
  }

  Digest hash_data(const Dataset& dataset, const Type& type) {
    const Handle memory_type = canonical_memory_type(dataset.type.get(), dataset.name);
    const std::size_t size = type.memory_size();
    ElementHasher hasher(type, paths_);
    const std::uint64_t count = element_count(dataset.shape, dataset.name);
    if (count == 0) return hasher.finish();
    refuse_claims(dataset, product(count, size, dataset.name));
    Elements elements(memory_type.get(), size, type.is_variable());
    const Handle space = own(H5Dget_space(dataset.id.get()), H5Sclose, "read the shape of", dataset.name);
    Tiles tiles(plan_of(dataset, size, type.is_variable()));
    while (const std::optional<Box> tile = tiles.next()) {
      on_progress_();
      if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "interrupted while hashing " + dataset.name);
      elements.resize(tile->count());
      read_box(dataset, *tile, memory_type.get(), space.get(), elements.data());
      hasher.update(elements);
    }
    return hasher.finish();
  }

  void add_attributes(hid_t object, const std::string& object_name, Record& record) {
    const std::vector<std::string> names = attribute_names(object, object_name);
    record.number(names.size());
    for (const std::string& name : names) add_attribute(object, name, object_name + "@" + printable(name), record);
  }

  void add_attribute(hid_t object, const std::string& name, const std::string& label, Record& record) {
    const Handle id = own(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, "open", label);
    const Handle stored = own(H5Aget_type(id.get()), H5Tclose, "read the type of", label);
    const Handle space = own(H5Aget_space(id.get()), H5Sclose, "read the shape of", label);
    const Type type = parse_type(stored.get(), label);
    const Shape shape = shape_of(space.get(), label);
    record.text(name);
    record.text(canonical(type, label));
    record.shape(shape);
    const std::uint64_t count = element_count(shape, label);
    if (product(count, type.memory_size(), label) > attribute_bytes_max) {
      throw Error(FailureKind::invalid, fmt::format("cannot hash {}: it is larger than 64 MiB", label));
    }
    const Handle memory_type = canonical_memory_type(stored.get(), label);
    Elements elements(memory_type.get(), type.memory_size(), type.is_variable());
    elements.resize(count);
    if (count > 0) checked(H5Aread(id.get(), memory_type.get(), elements.data()), "read", label);
    ElementHasher hasher(type, paths_);
    hasher.update(elements);
    record.data(hasher.finish());
  }

  Source source_;
  std::stop_token stop_;
  const std::function<void()>& on_progress_;
  Paths paths_;
  LogicalHash result_;
};

}  // namespace

LogicalHash logical_hash(const std::filesystem::path& file, std::stop_token stop,
                         const std::function<void()>& on_progress) {
  return Hashing(file, std::move(stop), on_progress).run();
}

}  // namespace sabath
