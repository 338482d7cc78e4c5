// Weights & Biases' offline files (wandb/offline-run-*/run-ID.wandb): a log of protocol buffers in LevelDB's framing.
//   file:   ":W&B", 0xbee1 (2 bytes), version 0; then blocks of 32 KiB, the first one with these 7 bytes in it
//   piece:  CRC-32 (IEEE) of type and data, 4; length, 2; type (1 whole, 2 first, 3 middle, 4 last), 1; data. A block's
//           last bytes, fewer than 7, are zero
//   Record: history 2 { item 1 { key 1, nested_key 2, value_json 16 }, step 2 { num 1 } }, summary 3, config 5 { update
//   1 },
//           run 17, exit 18
// Source: wandb/proto/wandb_internal.proto; leveldb's doc/log_format.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_set>

#include "base/number.h"
#include "formats/protobuf.h"
#include "metrics/json_scan.h"
#include "trackers/tracker_reader.h"

namespace sabath {
namespace {

using Wire = ProtobufField::Wire;
constexpr std::string_view wandb_head{":W&B\xe1\xbe\0", 7};
constexpr std::size_t block_bytes = 32768, piece_head = 7;
constexpr std::size_t figures_max = 20'000;
constexpr std::size_t told_value_max = 4096;

constexpr std::array<std::uint32_t, 256> make_ieee_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320U : 0);
    table[byte] = crc;
  }
  return table;
}

std::uint32_t crc32_ieee(std::string_view bytes) {
  static constexpr auto table = make_ieee_table();
  std::uint32_t crc = ~0U;
  for (const char c : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

// An item of history, summary or config.
struct WandbItem {
  std::string name;  // nested keys joined by "."
  std::string_view json;
};

WandbItem parse_item(std::string_view text) {
  WandbItem item;
  ProtobufReader reader(text);
  for (ProtobufField field; reader.next(field);) {
    if (field.is(1, Wire::bytes)) item.name = field.text;
    if (field.is(2, Wire::bytes)) item.name.append(item.name.empty() ? "" : ".").append(field.text);
    if (field.is(16, Wire::bytes)) item.json = field.text;
    if (item.name.size() > told_value_max) return {};
  }
  return item;
}

bool is_own(std::string_view name) { return name.starts_with('_'); }  // W&B's: _step, _timestamp, _runtime, _wandb

// A number, or the numbers of an object by their names.
void for_each_number(const WandbItem& item, const std::function<void(const std::string&, double)>& take) {
  const std::string text = item.json.starts_with('"') && item.json.size() > 2
                               ? std::string(item.json.substr(1, item.json.size() - 2))
                               : std::string(item.json);
  const bool number = !item.json.starts_with('"') || text == "NaN" || text == "Infinity" || text == "-Infinity";
  if (const auto value = number ? try_number(text) : std::nullopt) return take(item.name, *value);
  if (!item.json.starts_with('{') || item.json.find("\"_type\"") != std::string_view::npos)
    return;  // a table, an image
  std::vector<JsonLeaf> leaves;
  if (!scan_json_object(item.json, leaves)) return;
  for (const JsonLeaf& leaf : leaves) {
    if (leaf.kind != JsonLeaf::Kind::number || leaf.index >= 0) continue;
    std::string name = item.name + "." + json_unescape(leaf.outer);
    if (!leaf.inner.empty()) name += "." + json_unescape(leaf.inner);
    take(name, leaf.number);
  }
}

std::string text_of_json(std::string_view json) {
  if (json.size() >= 2 && json.front() == '"' && json.back() == '"') json = json.substr(1, json.size() - 2);
  return json_unescape(json.substr(0, told_value_max));
}

class WandbReader final : public TrackerReader {
 public:
  using TrackerReader::TrackerReader;

  void feed(std::string_view bytes) override {
    while (!bytes.empty() && !counts_.lost) {
      // A piece does not cross the end of its block.
      const std::size_t more = std::min(block_bytes - at_ - held_.size(), bytes.size());
      held_ += bytes.substr(0, more);
      bytes.remove_prefix(more);
      std::size_t taken = 0;
      while (const std::size_t size = take_piece(std::string_view(held_).substr(taken))) {
        taken += size;
        at_ += size;
        offset_ += size;
        if (at_ == block_bytes) at_ = 0, in_damage_ = false;
        if (taken == held_.size()) break;
      }
      held_.erase(0, taken);
    }
  }

  void finish() override {
    for (const auto& [name, value] : figures_) {
      if (logged_.contains(name)) continue;
      Metric figure;
      figure.time = time_;
      figure.name = name;
      figure.value = value;
      tell(figure);
    }
    figures_.clear();
  }

 private:
  // The bytes of the piece at the front; 0: more are needed.
  std::size_t take_piece(std::string_view bytes) {
    if (offset_ == 0) return take_head(bytes);
    const std::size_t left = block_bytes - at_;
    if (in_damage_) return std::min(left, bytes.size());
    if (left < piece_head) return bytes.size() >= left ? left : 0;
    if (bytes.size() < piece_head) return 0;
    const auto length = static_cast<std::size_t>(little_endian(bytes.substr(4), 2));
    const auto type = static_cast<unsigned char>(bytes[6]);
    const std::size_t whole = piece_head + length;
    const bool possible = whole <= left && type >= 1 && type <= 4;
    if (possible && bytes.size() < whole) return 0;
    if (!possible || little_endian(bytes, 4) != crc32_ieee(bytes.substr(6, length + 1))) return give_up_block(bytes);
    join(type, bytes.substr(piece_head, length));
    return whole;
  }

  std::size_t take_head(std::string_view bytes) {
    if (bytes.size() < wandb_head.size()) return 0;
    if (bytes.starts_with(wandb_head)) return wandb_head.size();
    counts_.note_damage(0);
    counts_.lost = true;
    return bytes.size();
  }

  // As LevelDB does: what follows in the block may be anything.
  std::size_t give_up_block(std::string_view bytes) {
    counts_.note_damage(offset_);
    in_damage_ = true;
    record_.clear();
    skipping_ = true;
    const std::size_t left = block_bytes - at_;
    return std::min(left, bytes.size());
  }

  void join(unsigned char type, std::string_view data) {
    if (type == 1 || type == 2) {
      record_.clear();
      skipping_ = false;
    }
    if (skipping_) return;
    if (record_.size() + data.size() > tracker_record_max) {
      ++counts_.too_long;
      record_.clear();
      skipping_ = true;
      return;
    }
    if (type == 1) return take_record(data);
    record_ += data;
    if (type == 4) {
      take_record(record_);
      record_.clear();
      skipping_ = true;
    }
  }

  void take_record(std::string_view text) {
    ProtobufReader reader(text);
    for (ProtobufField field; reader.next(field);) {
      if (field.wire != Wire::bytes) continue;
      if (field.number == 2) take_history(field.text);
      if (field.number == 3) take_summary(field.text);
      if (field.number == 5) take_config(field.text);
      if (field.number == 17) take_run(field.text);
      if (field.number == 18) take_exit(field.text);
    }
    if (reader.broken()) counts_.note_damage(offset_);
  }

  // A row: its step and time stand anywhere in it.
  void take_history(std::string_view text) {
    Metric metric;
    std::vector<WandbItem> items;
    ProtobufReader reader(text);
    for (ProtobufField field; reader.next(field);) {
      if (field.is(1, Wire::bytes)) items.push_back(parse_item(field.text));
      if (field.is(2, Wire::bytes)) metric.step = step_of(field.text);
    }
    for (const WandbItem& item : items) {
      const std::string value(item.json);
      if (item.name == "_step" && !metric.step) metric.step = try_integer(value);
      if (item.name == "_timestamp") metric.time = try_number(value).value_or(metric.time);
      if (item.name != "epoch") continue;
      if (const auto epoch = try_number(value); epoch && std::isfinite(*epoch)) metric.epoch = epoch;
    }
    time_ = metric.time;
    for (const WandbItem& item : items) {
      if (is_own(item.name)) continue;
      for_each_number(item, [&](const std::string& name, double value) {
        if (logged_.size() < figures_max) logged_.insert(name);
        if (name == "epoch") return;
        metric.name = name;
        metric.value = value;
        tell(metric);
      });
    }
  }

  static std::int64_t step_of(std::string_view text) {
    ProtobufReader reader(text);
    std::int64_t step = 0;
    for (ProtobufField field; reader.next(field);) {
      if (field.is(1, Wire::varint)) step = field.as_integer();
    }
    return step;
  }

  void take_summary(std::string_view text) {
    ProtobufReader reader(text);
    for (ProtobufField field; reader.next(field);) {
      if (!field.is(1, Wire::bytes)) continue;
      const WandbItem item = parse_item(field.text);
      if (is_own(item.name)) continue;
      for_each_number(item, [&](const std::string& name, double value) {
        if (figures_.size() < figures_max || figures_.contains(name)) figures_[name] = value;
      });
    }
  }

  void take_config(std::string_view text) {
    ProtobufReader reader(text);
    for (ProtobufField field; reader.next(field);) {
      if (!field.is(1, Wire::bytes)) continue;
      const WandbItem item = parse_item(field.text);
      if (!item.name.empty() && !is_own(item.name)) run_.set_config(item.name, text_of_json(item.json));
    }
  }

  void take_run(std::string_view text) {
    if (run_.state.empty()) run_.state = "running";
    ProtobufReader reader(text);
    for (ProtobufField field; reader.next(field);) {
      if (field.is(1, Wire::bytes)) run_.id = field.text.substr(0, told_value_max);
      if (field.is(4, Wire::bytes)) take_config(field.text);
      if (field.is(8, Wire::bytes)) run_.name = field.text.substr(0, told_value_max);
      if (field.is(17, Wire::bytes)) run_.started = seconds_of(field.text);
    }
  }

  void take_exit(std::string_view text) {
    run_.exit = 0;
    std::int64_t runtime = 0;
    ProtobufReader reader(text);
    for (ProtobufField field; reader.next(field);) {
      if (field.is(1, Wire::varint)) run_.exit = static_cast<int>(field.as_integer());
      if (field.is(2, Wire::varint)) runtime = field.as_integer();
    }
    run_.state = *run_.exit == 0 ? "finished" : "failed";
    if (run_.started) run_.finished = *run_.started + static_cast<double>(runtime);
  }

  // A google.protobuf.Timestamp.
  static std::optional<double> seconds_of(std::string_view text) {
    double seconds = 0;
    ProtobufReader reader(text);
    for (ProtobufField field; reader.next(field);) {
      if (field.is(1, Wire::varint)) seconds += static_cast<double>(field.as_integer());
      if (field.is(2, Wire::varint)) seconds += 1e-9 * static_cast<double>(field.as_integer());
    }
    return seconds > 0 ? std::optional(seconds) : std::nullopt;
  }

  std::string held_, record_;
  std::size_t at_ = 0;        // in the block
  std::uint64_t offset_ = 0;  // in the file
  bool skipping_ = true;      // until a record begins
  bool in_damage_ = false;    // until the block ends
  double time_ = std::numeric_limits<double>::quiet_NaN();
  std::map<std::string, double> figures_;   // of the summary
  std::unordered_set<std::string> logged_;  // by history
};

}  // namespace

std::unique_ptr<TrackerReader> make_wandb_reader(TrackerReader::Sink sink) {
  return std::make_unique<WandbReader>(std::move(sink));
}

bool is_wandb_file(std::string_view front) { return front.starts_with(wandb_head.substr(0, 6)); }

}  // namespace sabath
