// TensorFlow's records, one behind the other, each with its length and two checksums; the content of each may be a
// tf.train.Example.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "formats/crc32c.h"
#include "formats/inspect/inspect_format.h"
#include "formats/protobuf.h"
#include "formats/tfrecord.h"
#include "sabath/path.h"

namespace sabath {
namespace {

bool is_tfrecord(const DataFile& file) {
  const std::string_view begin = file.begin();
  return begin.size() >= 12 && mask_crc(crc32c(begin.substr(0, 8))) == little_endian(begin.substr(8), 4);
}

void take_records(ByteSource& content, const DataFile& file, FileRecords& facts) {
  TfrecordReader reader(content, file.path().native());
  while (const auto one = reader.next(file.on_progress())) {
    facts.smallest = facts.count == 0 ? one->bytes : std::min(facts.smallest, one->bytes);
    facts.largest = std::max(facts.largest, one->bytes);
    facts.bytes += one->bytes;
    ++facts.count;
    const auto features = one->whole() ? try_parse_example(one->data) : std::nullopt;
    if (!features || features->empty()) continue;
    if (facts.examples++ > 0) continue;
    for (const ExampleFeature& feature : *features) {
      facts.features.push_back(
          {printable(feature.name), std::string(name_of(feature.kind)), feature.values, feature.bytes});
    }
  }
}

void read_records(const DataFile& file, InspectRecord& record) {
  FileRecords facts;
  file.read([&](ByteSource& content) { take_records(content, file, facts); });
  record.records = std::move(facts);
}

void add_first_record(ByteSource& content, const DataFile& file, FactSink& facts) {
  TfrecordReader reader(content, file.path().native());
  const auto record = reader.next(file.on_progress());
  if (!record || !record->whole()) return;
  const auto features = try_parse_example(record->data);
  if (!features || features->empty()) return;
  facts.add("format", "tfrecord");
  for (const ExampleFeature& feature : *features) {
    facts.add("feature", feature.name);
    facts.add(feature.name + ".dtype", std::string(name_of(feature.kind)));
    facts.add(feature.name + ".shape", fmt::to_string(feature.values));
  }
}

// Of the first record alone.
void record_facts(const DataFile& file, FactSink& facts) {
  file.read([&](ByteSource& content) { add_first_record(content, file, facts); });
}

}  // namespace

extern constexpr InspectFormat tfrecord_inspected{
    .name = "tfrecord",
    .endings = ".tfrecord .tfrecords",
    .is = is_tfrecord,
    .read = read_records,
    .facts = record_facts,
    .in_gzip = true,
};

}  // namespace sabath
