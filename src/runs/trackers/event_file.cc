// TensorBoard's event files (events.out.tfevents.*): TFRecord framing around protocol buffers.
//   record: length, 8 bytes; masked CRC-32C of these, 4; data; masked CRC-32C of the data, 4; lowest byte first
//   Event:  wall_time 1 (double), step 2, summary 5 { value 1 { tag 1, simple_value 2 (float), tensor 8, metadata 9 } }
// A value is a scalar if it is a simple_value, or a tensor whose tag's first metadata names the plug-in `scalars`.
// Hyper-parameters are a value with the tag _hparams_/session_start_info, whose metadata has them.
// Source: tensorflow/core/util/event.proto, framework/summary.proto, tensor.proto; tensorboard/plugins/hparams.
#include <cmath>
#include <limits>
#include <unordered_map>

#include "formats/crc32c.h"
#include "formats/protobuf.h"
#include "metrics/record.h"
#include "trackers/tensor_scalar.h"
#include "trackers/tracker_reader.h"

namespace sabath {
namespace {

using Wire = ProtobufField::Wire;
constexpr std::size_t head_bytes = 12, foot_bytes = 4;
constexpr std::size_t tags_max = 100'000;
constexpr std::size_t told_text_max = 4096;
constexpr std::string_view hparams_start = "_hparams_/session_start_info", hparams_end = "_hparams_/session_end_info";

struct SummaryMetadata {
  std::string_view plugin, content;
  std::uint64_t data_class = 0;
};

constexpr std::uint64_t data_class_scalar = 1;

SummaryMetadata parse_metadata(std::string_view text) {
  SummaryMetadata metadata;
  ProtobufReader reader(text);
  for (ProtobufField field; reader.next(field);) {
    if (field.is(4, Wire::varint)) metadata.data_class = field.bits;
    if (!field.is(1, Wire::bytes)) continue;
    ProtobufReader plugin(field.text);
    for (ProtobufField inner; plugin.next(inner);) {
      if (inner.is(1, Wire::bytes)) metadata.plugin = inner.text;
      if (inner.is(2, Wire::bytes)) metadata.content = inner.text;
    }
  }
  return metadata;
}

// A google.protobuf.Value; lists and objects are none.
std::optional<std::string> plain_value(std::string_view text) {
  ProtobufReader reader(text);
  for (ProtobufField field; reader.next(field);) {
    if (field.is(2, Wire::fixed64)) return number_text(field.as_double());
    if (field.is(3, Wire::bytes)) return std::string(field.text.substr(0, told_text_max));
    if (field.is(4, Wire::varint)) return field.bits != 0 ? "true" : "false";
  }
  return std::nullopt;
}

class EventFileReader final : public TrackerReader {
 public:
  using TrackerReader::TrackerReader;

  void feed(std::string_view bytes) override {
    while (!bytes.empty() && !counts_.lost) {
      if (skip_ > 0) {
        const std::size_t skipped = static_cast<std::size_t>(std::min<std::uint64_t>(skip_, bytes.size()));
        bytes.remove_prefix(skipped);
        offset_ += skipped;
        skip_ -= skipped;
      } else if (held_.empty()) {
        const std::size_t taken = take_records(bytes);
        held_ = bytes.substr(taken);
        return;
      } else {  // only as much as the record that was begun needs
        const std::size_t wanted = needed(held_), more = std::min(wanted - held_.size(), bytes.size());
        held_ += bytes.substr(0, more);
        bytes.remove_prefix(more);
        held_.erase(0, take_records(held_));
      }
    }
  }

 private:
  // The bytes that make its front a head or a whole record; more than it has.
  [[nodiscard]] static std::size_t needed(std::string_view held) {
    if (held.size() < head_bytes) return head_bytes;
    return head_bytes + static_cast<std::size_t>(little_endian(held, 8)) + foot_bytes;  // bounded: take_records()
  }

  // Takes whole records from the front; returns their bytes. What is left has a good head, or none yet.
  std::size_t take_records(std::string_view bytes) {
    const std::size_t all = bytes.size();
    while (bytes.size() >= head_bytes && !counts_.lost) {
      const std::uint64_t length = little_endian(bytes, 8);
      if (little_endian(bytes.substr(8), 4) != mask_crc(crc32c(bytes.substr(0, 8)))) {
        counts_.note_damage(offset_);
        counts_.lost = true;  // where the next record begins is not known
        return all;
      }
      if (length > tracker_record_max) {
        ++counts_.too_long;
        const std::uint64_t rest = length > std::numeric_limits<std::uint64_t>::max() / 2 ? 0 : head_bytes + foot_bytes;
        const auto here = static_cast<std::size_t>(std::min<std::uint64_t>(length + rest, bytes.size()));
        skip_ = length + rest - here;
        offset_ += here;
        bytes.remove_prefix(here);
        continue;
      }
      const std::size_t size = static_cast<std::size_t>(length), whole = head_bytes + size + foot_bytes;
      if (bytes.size() < whole) break;
      const std::string_view data = bytes.substr(head_bytes, size);
      if (little_endian(bytes.substr(head_bytes + size), 4) == mask_crc(crc32c(data))) {
        take_event(data);
      } else {
        counts_.note_damage(offset_);
      }
      bytes.remove_prefix(whole);
      offset_ += whole;
    }
    return counts_.lost ? all : all - bytes.size();
  }

  void take_event(std::string_view data) {
    metric_.time = std::numeric_limits<double>::quiet_NaN();
    metric_.step = 0;
    std::string_view summary;
    ProtobufReader reader(data);
    for (ProtobufField field; reader.next(field);) {
      if (field.is(1, Wire::fixed64)) metric_.time = field.as_double();
      if (field.is(2, Wire::varint)) metric_.step = field.as_integer();
      if (field.is(5, Wire::bytes)) summary = field.text;
    }
    if (reader.broken()) return counts_.note_damage(offset_);
    if (!run_.started && std::isfinite(metric_.time)) run_.started = metric_.time;
    ProtobufReader values(summary);
    for (ProtobufField field; values.next(field);) {
      if (field.is(1, Wire::bytes)) take_value(field.text);
    }
  }

  void take_value(std::string_view text) {
    std::string_view tag, tensor;
    std::optional<double> simple;
    std::optional<SummaryMetadata> metadata;
    ProtobufReader reader(text);
    for (ProtobufField field; reader.next(field);) {
      if (field.is(1, Wire::bytes)) tag = field.text;
      if (field.is(2, Wire::fixed32)) simple = static_cast<double>(field.as_float());
      if (field.is(8, Wire::bytes)) tensor = field.text;
      if (field.is(9, Wire::bytes)) metadata = parse_metadata(field.text);
    }
    if (tag.empty() || tag.size() > told_text_max) return;
    if (metadata && tag == hparams_start) take_session_start(metadata->content);
    if (metadata && tag == hparams_end) take_session_end(metadata->content);
    if (!simple) {
      if (tensor.empty() || !is_scalar(tag, metadata)) return;
      simple = try_scalar_of_tensor(tensor);
      if (!simple) return;
    }
    metric_.name = tag;
    metric_.value = *simple;
    tell(metric_);
  }

  // The writer says a tag's plug-in with its first value only.
  bool is_scalar(std::string_view tag, const std::optional<SummaryMetadata>& metadata) {
    const auto known = scalar_tags_.find(std::string(tag));
    if (known != scalar_tags_.end()) return known->second;
    if (!metadata) return false;
    const bool scalar = metadata->plugin == "scalars" || metadata->data_class == data_class_scalar;
    if (scalar_tags_.size() < tags_max) scalar_tags_.emplace(tag, scalar);
    return scalar;
  }

  // HParamsPluginData { session_start_info 3 { hparams 1 (map: key 1, value 2), start_time_secs 5 } }
  void take_session_start(std::string_view content) {
    ProtobufReader plugin(content);
    for (ProtobufField start; plugin.next(start);) {
      if (!start.is(3, Wire::bytes)) continue;
      ProtobufReader info(start.text);
      for (ProtobufField field; info.next(field);) {
        if (field.is(5, Wire::fixed64) && field.as_double() > 0) run_.started = field.as_double();
        if (field.is(1, Wire::bytes)) take_hparam(field.text);
      }
    }
  }

  void take_hparam(std::string_view entry) {
    std::string key;
    std::optional<std::string> value;
    ProtobufReader reader(entry);
    for (ProtobufField field; reader.next(field);) {
      if (field.is(1, Wire::bytes)) key = field.text.substr(0, told_text_max);
      if (field.is(2, Wire::bytes)) value = plain_value(field.text);
    }
    if (!key.empty() && value) run_.set_config(key, std::move(*value));
  }

  // HParamsPluginData { session_end_info 4 { status 1 (1 success, 2 failure, 3 running), end_time_secs 2 } }
  void take_session_end(std::string_view content) {
    ProtobufReader plugin(content);
    for (ProtobufField end; plugin.next(end);) {
      if (!end.is(4, Wire::bytes)) continue;
      ProtobufReader info(end.text);
      for (ProtobufField field; info.next(field);) {
        if (field.is(1, Wire::varint)) run_.state = field.bits == 1 ? "finished" : field.bits == 2 ? "failed" : "";
        if (field.is(2, Wire::fixed64) && field.as_double() > 0) run_.finished = field.as_double();
      }
    }
  }

  std::string held_;          // a record that has begun
  std::uint64_t skip_ = 0;    // bytes of a record that is too long
  std::uint64_t offset_ = 0;  // of the next record in the file
  std::unordered_map<std::string, bool> scalar_tags_;
  Metric metric_;
};

}  // namespace

std::unique_ptr<TrackerReader> make_event_file_reader(TrackerReader::Sink sink) {
  return std::make_unique<EventFileReader>(std::move(sink));
}

bool is_event_file(std::string_view front) {
  return front.size() >= head_bytes && little_endian(front.substr(8), 4) == mask_crc(crc32c(front.substr(0, 8)));
}

}  // namespace sabath
