// Any bytes are refused as TFRecords or give records that lie in them, packed or not; and any bytes as
// tf.train.Example. What is written as one is read as the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "expected.h"
#include "formats/crc32c.h"
#include "formats/gzip.h"
#include "formats/tfrecord.h"

namespace {

class MemoryBytes final : public sabath::ByteSource {
 public:
  explicit MemoryBytes(std::string_view bytes) : bytes_(bytes) {}
  std::size_t read(std::span<char> into) override {
    const std::size_t got = bytes_.copy(into.data(), std::min<std::size_t>(into.size(), 7));
    bytes_.remove_prefix(got);
    return got;
  }

 private:
  std::string_view bytes_;
};

void read_all(sabath::ByteSource& source) {
  expect_damage_or([&] {
    sabath::TfrecordReader reader(source, "fuzz.tfrecord");
    while (const auto record = reader.next()) {
      check(record->whole());
      if (const auto features = sabath::try_parse_example(record->data)) {
        for (const auto& feature : *features) check(feature.bytes <= record->bytes && feature.values <= record->bytes);
      }
    }
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  MemoryBytes plain(bytes), packed(bytes);
  read_all(plain);
  sabath::InflateSource unpacked(packed, sabath::InflateSource::Form::gzip, "fuzz.gz");
  read_all(unpacked);
  static_cast<void>(sabath::try_parse_example(bytes));

  sabath::ExampleFrame frame("x", sabath::ExampleFrame::Bulk::bytes, size);
  const float label = 1.5F;
  frame.add_floats("y", {&label, 1});
  frame.finish();
  const std::string written = frame.head() + std::string(bytes) + frame.tail(sabath::crc32c(bytes, frame.crc_before()));
  check(written.size() == frame.record_bytes());
  MemoryBytes again(written);
  sabath::TfrecordReader reader(again, "again");
  const auto record = reader.next();
  check(record.has_value());
  const auto features = sabath::try_parse_example(record->data);
  check(features && features->size() == 2 && (*features)[0].first == bytes && (*features)[1].floats[0] == 1.5F);
  check(!reader.next());
  return 0;
}
