// TensorFlow's TFRecord files: records one after the other, each with its length and two masked CRC-32C; and
// tf.train.Example, the message that most of them hold. Read as a stream; written by frames, of which the bulk of the
// data may pass without a copy. docs/formats.md. One thread at a time. Throws Error{invalid} for a wrong CRC or length,
// {content} where the records end early. Sources: tensorflow/core/lib/io/record_writer.h, core/example/example.proto.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/bytes.h"

namespace sabath {

inline constexpr std::uint64_t tfrecord_frame_bytes = 16;             // length, its CRC, and the data's behind them
inline constexpr std::uint64_t example_bytes_max = (1ULL << 31) - 1;  // what protocol buffers can hold
inline constexpr std::uint64_t record_held_bytes_max = 256ULL << 20;  // what a reader keeps of one

class TfrecordReader {
 public:
  TfrecordReader(ByteSource& from, std::string name);  // `from` outlives it

  // The next record; nullopt at the end. Both CRCs have been checked. Its first record_held_bytes_max bytes are kept;
  // it is valid until the next call.
  struct Record {
    std::uint64_t offset = 0, bytes = 0;  // offset: of the length, in the unpacked stream
    std::string_view data;
    [[nodiscard]] bool whole() const { return data.size() == bytes; }
  };
  [[nodiscard]] std::optional<Record> next(const std::function<void()>& on_progress = [] {});

 private:
  ByteSource& from_;
  std::string name_, data_;
  std::uint64_t at_ = 0, records_ = 0;
};

struct ExampleFeature {
  enum class Kind { empty, bytes, floats, integers };
  std::string name;
  Kind kind = Kind::empty;
  std::uint64_t values = 0;
  std::uint64_t bytes = 0;            // of Kind::bytes: of all values
  std::string_view first;             // of Kind::bytes: the first value
  std::vector<float> floats;          // the first 64
  std::vector<std::int64_t> numbers;  // the first 64
};
[[nodiscard]] std::string_view name_of(ExampleFeature::Kind kind);  // "bytes", "float", "int64"

// Features by name; nullopt if the bytes are no tf.train.Example. At most 4,096 features.
[[nodiscard]] std::optional<std::vector<ExampleFeature>> try_parse_example(std::string_view record);

// A record that holds an Example whose first feature is large: what stands before its data, and behind.
class ExampleFrame {
 public:
  enum class Bulk { bytes, floats };  // floats: the data are little-endian float32
  // Throws Error{usage} if the Example would have more than example_bytes_max.
  ExampleFrame(std::string_view feature, Bulk bulk, std::uint64_t data_bytes);
  void add_floats(std::string_view feature, std::span<const float> values);
  void finish();  // no feature comes any more: required before the rest

  [[nodiscard]] std::uint64_t record_bytes() const { return tfrecord_frame_bytes + example_bytes_; }
  [[nodiscard]] const std::string& head() const { return head_; }         // to be written before the data
  [[nodiscard]] std::uint32_t crc_before() const { return crc_before_; }  // crc32c(data, crc_before()) goes into tail()
  [[nodiscard]] std::string tail(std::uint32_t crc_with_data) const;      // to be written behind the data

 private:
  std::string inner_, features_;  // what stands before the data inside the Example; the other features
  std::uint64_t feature_bytes_ = 0, example_bytes_ = 0;
  std::string head_;
  std::uint32_t crc_before_ = 0;
};

}  // namespace sabath
