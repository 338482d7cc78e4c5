#include "formats/tfrecord.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/text.h"
#include "formats/crc32c.h"
#include "formats/protobuf.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t piece_bytes = 1 << 20, features_max = 4096, values_shown = 64;
constexpr std::uint32_t features_field = 1, entry_field = 1, key_field = 1, value_field = 2, list_field = 1;
enum FeatureField : std::uint32_t { bytes_list = 1, float_list = 2, int64_list = 3 };  // of message Feature

using Wire = ProtobufField::Wire;

std::uint32_t number32(std::string_view bytes) { return static_cast<std::uint32_t>(little_endian(bytes, 4)); }

bool take_bytes_value(const ProtobufField& field, ExampleFeature& feature) {
  if (!field.is(list_field, Wire::bytes)) return true;
  if (feature.values++ == 0) feature.first = field.text;
  feature.bytes += field.text.size();
  return true;
}

bool take_floats(const ProtobufField& field, ExampleFeature& feature) {
  if (field.is(list_field, Wire::fixed32)) {
    ++feature.values;
    if (feature.floats.size() < values_shown) feature.floats.push_back(field.as_float());
  } else if (field.is(list_field, Wire::bytes)) {
    if (field.text.size() % 4 != 0) return false;
    feature.values += field.text.size() / 4;
    for (std::size_t at = 0; at < field.text.size() && feature.floats.size() < values_shown; at += 4)
      feature.floats.push_back(std::bit_cast<float>(number32(field.text.substr(at))));
  }
  return true;
}

bool take_integers(const ProtobufField& field, ExampleFeature& feature) {
  const auto keep = [&](std::uint64_t value) {
    ++feature.values;
    if (feature.numbers.size() < values_shown) feature.numbers.push_back(static_cast<std::int64_t>(value));
  };
  if (field.is(list_field, Wire::varint)) keep(field.bits);
  if (!field.is(list_field, Wire::bytes)) return true;
  std::uint64_t value = 0;
  for (std::string_view packed = field.text; !packed.empty(); keep(value)) {
    if (!take_varint(packed, value)) return false;
  }
  return true;
}

using TakeValue = bool (*)(const ProtobufField& field, ExampleFeature& feature);

bool take_list(std::string_view message, ExampleFeature& feature, TakeValue take_value) {
  ProtobufReader reader(message);
  ProtobufField field;
  while (reader.next(field)) {
    if (!take_value(field, feature)) return false;
  }
  return !reader.broken();
}

bool take_feature(std::string_view message, ExampleFeature& feature) {
  ProtobufReader reader(message);
  ProtobufField field;
  bool right = true;
  while (right && reader.next(field)) {
    if (field.wire != Wire::bytes || field.number < bytes_list || field.number > int64_list) continue;
    const std::string name = std::move(feature.name);
    feature = {};
    feature.name = name;
    feature.kind = static_cast<ExampleFeature::Kind>(field.number);
    right = take_list(field.text, feature,
                      field.number == bytes_list   ? take_bytes_value
                      : field.number == float_list ? take_floats
                                                   : take_integers);
  }
  return right && !reader.broken();
}

bool take_entry(std::string_view message, std::vector<ExampleFeature>& features) {
  ProtobufReader reader(message);
  ProtobufField field;
  ExampleFeature feature;
  std::string_view value;
  while (reader.next(field)) {
    if (field.is(key_field, Wire::bytes)) feature.name = field.text;
    if (field.is(value_field, Wire::bytes)) value = field.text;
  }
  if (reader.broken() || !is_utf8(feature.name) || !take_feature(value, feature)) return false;
  std::erase_if(features, [&](const ExampleFeature& other) { return other.name == feature.name; });  // the last counts
  features.push_back(std::move(feature));
  return features.size() <= features_max;
}

std::uint64_t varint_bytes(std::uint64_t value) {
  std::uint64_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

// The key and the length of an inner message of `bytes` bytes, of a field below 16.
void append_opening(std::string& text, std::uint32_t field, std::uint64_t bytes) {
  text += static_cast<char>(field << 3 | static_cast<std::uint32_t>(Wire::bytes));
  for (; bytes >= 0x80; bytes >>= 7) text += static_cast<char>(bytes | 0x80);
  text += static_cast<char>(bytes);
}

std::uint64_t message_bytes(std::uint64_t bytes) { return 1 + varint_bytes(bytes) + bytes; }

}  // namespace

TfrecordReader::TfrecordReader(ByteSource& from, std::string name) : from_(from), name_(printable(name, 4096)) {}

std::optional<TfrecordReader::Record> TfrecordReader::next(const std::function<void()>& on_progress) {
  char frame[12];
  const auto early = [&](std::string_view where) {
    return Error(
        FailureKind::content,
        fmt::format("cannot read {}: record {} (at byte {}) ends early, in its {}", name_, records_, at_, where),
        "the file is cut off: get it again");
  };
  const auto wrong = [&](std::string_view what) {
    return Error(FailureKind::invalid,
                 fmt::format("cannot read {}: record {} (at byte {}) has a wrong checksum of its {}", name_, records_,
                             at_, what),
                 "the file is damaged, or holds no TFRecords");
  };
  const std::size_t got = read_full(from_, frame);
  if (got == 0) return std::nullopt;
  if (got < sizeof frame) throw early("length");
  const std::string_view head(frame, sizeof frame);
  if (mask_crc(crc32c(head.substr(0, 8))) != number32(head.substr(8))) throw wrong("length");
  Record record{at_, little_endian(head, 8), {}};
  std::uint32_t crc = 0;
  data_.clear();
  std::string rest;
  for (std::uint64_t left = record.bytes; left > 0;) {
    const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(left, piece_bytes));
    const bool keep = data_.size() + piece <= record_held_bytes_max;
    std::string& into = keep ? data_ : rest;
    const std::size_t before = keep ? data_.size() : 0;
    into.resize(before + piece);
    const std::span<char> room = std::span(into).subspan(before, piece);
    if (read_full(from_, room) < piece) throw early("data");
    crc = crc32c({room.data(), room.size()}, crc);
    left -= piece;
    on_progress();
  }
  char last[4];
  if (read_full(from_, last) < sizeof last) throw early("checksum");
  if (mask_crc(crc) != number32({last, sizeof last})) throw wrong("data");
  record.data = data_;
  at_ += tfrecord_frame_bytes + record.bytes;
  ++records_;
  return record;
}

std::string_view name_of(ExampleFeature::Kind kind) {
  constexpr std::string_view names[] = {"empty", "bytes", "float", "int64"};
  return names[static_cast<std::size_t>(kind)];
}

std::optional<std::vector<ExampleFeature>> try_parse_example(std::string_view record) {
  std::vector<ExampleFeature> features;
  ProtobufReader example(record);
  ProtobufField field;
  while (example.next(field)) {
    if (!field.is(features_field, Wire::bytes)) return std::nullopt;  // another message than Example
    ProtobufReader map(field.text);
    ProtobufField entry;
    while (map.next(entry)) {
      if (!entry.is(entry_field, Wire::bytes) || !take_entry(entry.text, features)) return std::nullopt;
    }
    if (map.broken()) return std::nullopt;
  }
  if (example.broken()) return std::nullopt;
  std::ranges::sort(features, {}, &ExampleFeature::name);
  return features;
}

// Example{1: Features{1: Entry{1: name, 2: Feature{1: BytesList{1: data}}}}}; of floats Feature{2: FloatList{1:
// packed}}.
ExampleFrame::ExampleFrame(std::string_view feature, Bulk bulk, std::uint64_t data_bytes) {
  if (data_bytes > example_bytes_max) {
    throw Error(FailureKind::usage,
                fmt::format("cannot make one record of {}: protocol buffers end at 2 GiB", format_bytes(data_bytes)),
                "make a record of each row: per=row");
  }
  const std::uint64_t list = message_bytes(data_bytes), value = message_bytes(list);
  const std::uint64_t entry = message_bytes(feature.size()) + message_bytes(value);
  append_opening(inner_, entry_field, entry);
  append_opening(inner_, key_field, feature.size());
  inner_ += feature;
  append_opening(inner_, value_field, value);
  append_opening(inner_, bulk == Bulk::bytes ? bytes_list : float_list, list);
  append_opening(inner_, list_field, data_bytes);
  feature_bytes_ = message_bytes(entry);
}

void ExampleFrame::add_floats(std::string_view feature, std::span<const float> values) {
  ProtobufWriter list, value, entry, map;
  std::string packed;
  for (const float number : values) append_little_endian(packed, std::bit_cast<std::uint32_t>(number), 4);
  list.add_bytes(list_field, packed);
  value.add_bytes(float_list, list.text());
  entry.add_bytes(key_field, feature);
  entry.add_bytes(value_field, value.text());
  map.add_bytes(entry_field, entry.text());
  features_ += map.text();
}

void ExampleFrame::finish() {
  const std::uint64_t features = feature_bytes_ + features_.size();
  example_bytes_ = message_bytes(features);
  if (example_bytes_ > example_bytes_max) {
    throw Error(FailureKind::usage, "cannot make one record of more than 2 GiB", "make a record of each row: per=row");
  }
  std::string opening;
  append_opening(opening, features_field, features);
  opening += inner_;
  head_.clear();
  append_little_endian(head_, example_bytes_, 8);
  append_little_endian(head_, mask_crc(crc32c(head_)), 4);
  head_ += opening;
  crc_before_ = crc32c(opening);
}

std::string ExampleFrame::tail(std::uint32_t crc_with_data) const {
  std::string text = features_;
  append_little_endian(text, mask_crc(crc32c(features_, crc_with_data)), 4);
  return text;
}

}  // namespace sabath
