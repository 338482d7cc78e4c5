// Files as TensorBoard's writers and W&B make them, byte by byte, and what a reader tells of them.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "formats/crc32c.h"
#include "formats/protobuf.h"
#include "metrics/record.h"
#include "trackers/tracker_reader.h"

namespace sabath::test {

inline std::string framed(const std::string& data) {
  std::string text;
  append_little_endian(text, data.size(), 8);
  append_little_endian(text, mask_crc(crc32c(text)), 4);
  text += data;
  append_little_endian(text, mask_crc(crc32c(data)), 4);
  return text;
}

inline std::string event_of(double time, std::int64_t step, const std::string& value) {
  ProtobufWriter summary, event;
  summary.add_bytes(1, value);
  event.add_double(1, time);
  event.add_varint(2, static_cast<std::uint64_t>(step));
  event.add_bytes(5, summary.text());
  return framed(event.text());
}

inline std::string simple_value(const std::string& tag, float number) {
  ProtobufWriter value;
  value.add_bytes(1, tag);
  value.add_float(2, number);
  return value.text();
}

inline std::string plugin_of(const std::string& name, const std::string& content = "") {
  ProtobufWriter plugin, metadata;
  plugin.add_bytes(1, name);
  plugin.add_bytes(2, content);
  metadata.add_bytes(1, plugin.text());
  return metadata.text();
}

inline std::string tensor_value(const std::string& tag, const std::string& tensor, const std::string& metadata) {
  ProtobufWriter value;
  value.add_bytes(1, tag);
  value.add_bytes(8, tensor);
  if (!metadata.empty()) value.add_bytes(9, metadata);
  return value.text();
}

inline std::string event_file() {
  ProtobufWriter version;
  version.add_double(1, 1e9);
  version.add_bytes(3, "brain.Event:2");
  ProtobufWriter tensor;
  tensor.add_varint(1, 1);
  tensor.add_bytes(4, std::string("\0\0\x80\x3e", 4));  // 0.25F
  return framed(version.text()) + event_of(1e9 + 1, 1, simple_value("loss", 0.5F)) +
         event_of(1e9 + 2, 2, tensor_value("acc", tensor.text(), plugin_of("scalars"))) +
         event_of(1e9 + 3, 3, tensor_value("acc", tensor.text(), "")) +
         event_of(1e9 + 4, -1, tensor_value("picture", tensor.text(), plugin_of("images"))) +
         event_of(1e9 + 5, 1'000'000'000'000, simple_value("loss", INFINITY));
}

inline std::uint32_t ieee_crc(const std::string& bytes) {
  std::uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320U : 0);
  }
  return ~crc;
}

// Records in LevelDB's blocks of 32 KiB.
inline std::string wandb_file(const std::vector<std::string>& records) {
  constexpr std::size_t block = 32768, head = 7;
  std::string file(":W&B\xe1\xbe\0", head);
  for (const std::string& record : records) {
    std::size_t done = 0;
    bool first = true;
    do {
      std::size_t left = block - file.size() % block;
      if (left < head) {
        file.append(left, '\0');
        left = block;
      }
      const std::size_t length = std::min(left - head, record.size() - done);
      const bool last = done + length == record.size();
      const char type = first ? (last ? 1 : 2) : (last ? 4 : 3);
      const std::string piece = type + record.substr(done, length);
      append_little_endian(file, ieee_crc(piece), 4);
      append_little_endian(file, length, 2);
      file += piece;
      done += length;
      first = false;
    } while (done < record.size());
  }
  return file;
}

inline std::string wandb_item(const std::string& key, const std::string& json) {
  ProtobufWriter item;
  item.add_bytes(1, key);
  item.add_bytes(16, json);
  return item.text();
}

// A record whose field `kind` has these items.
inline std::string wandb_record(std::uint32_t kind, const std::vector<std::pair<std::string, std::string>>& items) {
  ProtobufWriter inner, record;
  for (const auto& [key, json] : items) inner.add_bytes(1, wandb_item(key, json));
  record.add_varint(1, 7);
  record.add_bytes(kind, inner.text());
  return record.text();
}

// "e3 s1 loss=0.5", in order.
struct Told {
  std::vector<std::string> lines;
  TrackerReader::Sink sink() {
    return [this](const Metric& metric) {
      std::string line = metric.epoch ? "e" + number_text(*metric.epoch) + " " : "";
      if (metric.step) line += "s" + std::to_string(*metric.step) + " ";
      lines.push_back(line + metric.name + "=" + number_text(metric.value));
    };
  }
};

}  // namespace sabath::test
