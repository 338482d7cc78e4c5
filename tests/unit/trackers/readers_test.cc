#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "files.h"
#include "trackers/tensor_scalar.h"

namespace sabath {
namespace {

using ::testing::ElementsAre;
using Lines = std::vector<std::string>;

const Lines event_lines{"s1 loss=0.5", "s2 acc=0.25", "s3 acc=0.25", "s1000000000000 loss=Infinity"};

TEST(EventFile, ScalarsOfBothKindsAreTold) {
  test::Told told;
  const auto reader = make_event_file_reader(told.sink());
  reader->feed(test::event_file());
  EXPECT_EQ(told.lines, event_lines);
  EXPECT_EQ(reader->counts().damaged, 0U);
  EXPECT_EQ(*reader->run().started, 1e9);
}

// A file that ends anywhere tells its whole records, and the others when the rest has come.
TEST(EventFile, IsReadInAnyTwoPieces) {
  const std::string file = test::event_file();
  std::size_t least = 0;
  for (std::size_t cut = 0; cut <= file.size(); ++cut) {
    test::Told told;
    const auto reader = make_event_file_reader(told.sink());
    reader->feed(std::string_view(file).substr(0, cut));
    EXPECT_GE(told.lines.size(), least) << cut;
    least = told.lines.size();
    EXPECT_TRUE(std::equal(told.lines.begin(), told.lines.end(), event_lines.begin())) << cut;
    EXPECT_EQ(reader->counts().damaged, 0U);
    reader->feed(std::string_view(file).substr(cut));
    EXPECT_EQ(told.lines, event_lines) << cut;
  }
}

TEST(EventFile, IsReadByteByByte) {
  test::Told told;
  const auto reader = make_event_file_reader(told.sink());
  for (const char c : test::event_file()) reader->feed(std::string_view(&c, 1));
  EXPECT_EQ(told.lines, event_lines);
}

// A flipped bit is found, and makes no other value.
TEST(EventFile, DamageIsCountedAndTellsNothing) {
  const std::string file = test::event_file();
  for (std::size_t at = 0; at < file.size(); ++at) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    test::Told told;
    const auto reader = make_event_file_reader(told.sink());
    reader->feed(damaged);
    EXPECT_EQ(reader->counts().damaged, 1U) << at;
    for (const std::string& line : told.lines) EXPECT_THAT(event_lines, ::testing::Contains(line));
  }
}

TEST(EventFile, ALongRecordIsSkipped) {
  const std::string picture = test::framed(std::string(tracker_record_max + 1, 'x'));
  test::Told told;
  const auto reader = make_event_file_reader(told.sink());
  const std::string after = test::event_of(2, 9, test::simple_value("loss", 2));
  for (const std::string& file : {picture + after, picture.substr(0, 5000)}) reader->feed(file);
  reader->feed(std::string_view(picture).substr(5000));
  reader->feed(after);
  EXPECT_THAT(told.lines, ElementsAre("s9 loss=2", "s9 loss=2"));
  EXPECT_EQ(reader->counts().too_long, 2U);
}

TEST(EventFile, LengthsThatLieTakeNoMemory) {
  std::string head;
  append_little_endian(head, ~std::uint64_t{0}, 8);
  append_little_endian(head, mask_crc(crc32c(head)), 4);
  const auto reader = make_event_file_reader([](const Metric&) {});
  reader->feed(head + std::string(100'000, 'x'));
  EXPECT_EQ(reader->counts().too_long, 1U);
}

TEST(EventFile, HyperParametersAreTheConfiguration) {
  const auto entry = [](const std::string& key, const ProtobufWriter& value) {
    ProtobufWriter pair;
    pair.add_bytes(1, key);
    pair.add_bytes(2, value.text());
    return pair.text();
  };
  ProtobufWriter rate, name, flag, start, data, end, ended;
  rate.add_double(2, 0.25);
  name.add_bytes(3, "relu");
  flag.add_varint(4, 1);
  start.add_bytes(1, entry("lr", rate));
  start.add_bytes(1, entry("act", name));
  start.add_bytes(1, entry("flag", flag));
  start.add_double(5, 123.5);
  data.add_bytes(3, start.text());
  end.add_varint(1, 2);
  end.add_double(2, 200);
  ended.add_bytes(4, end.text());
  const auto reader = make_event_file_reader([](const Metric&) { FAIL(); });
  reader->feed(test::event_of(
      1, 0, test::tensor_value("_hparams_/session_start_info", "", test::plugin_of("hparams", data.text()))));
  reader->feed(test::event_of(
      1, 0, test::tensor_value("_hparams_/session_end_info", "", test::plugin_of("hparams", ended.text()))));
  using Pair = std::pair<std::string, std::string>;
  EXPECT_THAT(reader->run().config, ElementsAre(Pair("lr", "0.25"), Pair("act", "relu"), Pair("flag", "true")));
  EXPECT_EQ(*reader->run().started, 123.5);
  EXPECT_EQ(*reader->run().finished, 200);
  EXPECT_EQ(reader->run().state, "failed");
}

TEST(TensorScalar, EachTypeIsRead) {
  const auto content = [](std::uint64_t type, const std::string& bytes) {
    ProtobufWriter tensor;
    tensor.add_varint(1, type);
    tensor.add_bytes(4, bytes);
    return try_scalar_of_tensor(tensor.text());
  };
  using namespace std::string_literals;
  EXPECT_EQ(content(1, "\0\0\x80\xbf"s), -1.0);
  EXPECT_EQ(content(2, "\0\0\0\0\0\0\xf8\x3f"s), 1.5);
  EXPECT_EQ(content(3, "\xfe\xff\xff\xff"s), -2.0);
  EXPECT_EQ(content(9, "\xfe\xff\xff\xff\xff\xff\xff\xff"s), -2.0);
  EXPECT_EQ(content(10, "\x01"s), 1.0);
  EXPECT_EQ(content(14, "\x80\x3f"s), 1.0);  // bfloat16
  EXPECT_EQ(content(19, "\x00\x3c"s), 1.0);  // half
  EXPECT_EQ(content(19, "\x01\x00"s), std::ldexp(1.0, -24));
  EXPECT_EQ(content(23, "\xff\xff\xff\xff\xff\xff\xff\xff"s), 18446744073709551615.0);
  EXPECT_EQ(content(7, "text"), std::nullopt);
  EXPECT_EQ(content(1, "\0\0\x80\xbf\0\0\x80\xbf"s), std::nullopt);
  ProtobufWriter several, shape, dim;
  several.add_varint(1, 1);
  several.add_bytes(5, std::string(8, '\0'));
  EXPECT_EQ(try_scalar_of_tensor(several.text()), std::nullopt);
  dim.add_varint(1, 3);
  shape.add_bytes(2, dim.text());
  several = {};
  several.add_varint(1, 1);
  several.add_bytes(2, shape.text());
  several.add_float(5, 1);
  EXPECT_EQ(try_scalar_of_tensor(several.text()), std::nullopt);
  EXPECT_EQ(try_scalar_of_tensor("\x08"), std::nullopt);
}

const std::vector<std::string> wandb_records{
    test::wandb_record(
        2, {{"loss", "0.5"}, {"_step", "3"}, {"_timestamp", "1.7e9"}, {"text", "\"hi\""}, {"flag", "true"}}),
    test::wandb_record(
        2, {{"loss", "NaN"}, {"a", R"({"b":2,"c":{"d":3}})"}, {"image", R"({"_type":"image-file","size":1})"}}),
    test::wandb_record(
        2, {{"epoch", "4"}, {"wide", "[" + std::string(70'000, '1') + "]"}, {"acc", "0.75"}, {"_step", "9"}}),
    test::wandb_record(3, {{"loss", "0.1"}, {"best", "0.125"}, {"best", "0.0625"}}),
    test::wandb_record(5, {{"lr", "0.1"}, {"act", "\"relu\""}}),
};
const Lines wandb_lines{"s3 loss=0.5", "loss=NaN", "a.b=2", "a.c.d=3", "e4 s9 acc=0.75", "best=0.0625"};

TEST(Wandb, HistorySummaryAndConfigAreTold) {
  test::Told told;
  const auto reader = make_wandb_reader(told.sink());
  reader->feed(test::wandb_file(wandb_records));
  reader->finish();
  EXPECT_EQ(told.lines, wandb_lines);
  EXPECT_EQ(reader->counts().damaged, 0U);
  using Pair = std::pair<std::string, std::string>;
  EXPECT_THAT(reader->run().config, ElementsAre(Pair("lr", "0.1"), Pair("act", "relu")));
}

TEST(Wandb, IsReadInAnyTwoPieces) {
  const std::string file = test::wandb_file(wandb_records);
  for (std::size_t cut = 0; cut <= file.size(); cut += cut > 1000 && cut < file.size() - 1000 ? 101 : 1) {
    test::Told told;
    const auto reader = make_wandb_reader(told.sink());
    reader->feed(std::string_view(file).substr(0, cut));
    EXPECT_EQ(reader->counts().damaged, 0U) << cut;
    reader->feed(std::string_view(file).substr(cut));
    reader->finish();
    EXPECT_EQ(told.lines, wandb_lines) << cut;
  }
}

TEST(Wandb, ADamagedBlockIsLeftOutAndTheNextOneRead) {
  std::string file = test::wandb_file(wandb_records);
  file[20] = static_cast<char>(file[20] ^ 1);
  test::Told told;
  const auto reader = make_wandb_reader(told.sink());
  reader->feed(file);
  reader->finish();
  EXPECT_EQ(reader->counts().damaged, 1U);
  EXPECT_EQ(reader->counts().damaged_at, 7U);
  EXPECT_THAT(told.lines, ElementsAre("best=0.0625", "loss=0.1"));  // the third record began in the first block
}

TEST(Wandb, AnotherFileIsRefused) {
  const auto reader = make_wandb_reader([](const Metric&) { FAIL(); });
  reader->feed("SQLite format 3 and more");
  EXPECT_TRUE(reader->counts().lost);
}

TEST(MlflowMetric, LinesAreRead) {
  test::Told told;
  const auto reader = make_mlflow_metric_reader("val/acc", told.sink());
  for (const char c : std::string("1700000000500 0.5 3\n1 nan 4\n1 -inf -5 data digest\n1 2\nx y\n1 7"))
    reader->feed(std::string_view(&c, 1));
  EXPECT_THAT(told.lines, ElementsAre("s3 val/acc=0.5", "s4 val/acc=NaN", "s-5 val/acc=-Infinity", "s0 val/acc=2"));
  EXPECT_EQ(reader->counts().damaged, 1U);
  reader->feed(".5 8\n");
  EXPECT_EQ(told.lines.back(), "s8 val/acc=7.5");
  reader->feed(std::string(100'000, 'x'));
  reader->feed("\n1 1 1\n");
  EXPECT_EQ(told.lines.back(), "s1 val/acc=1");
  EXPECT_EQ(reader->counts().damaged, 2U);
}

}  // namespace
}  // namespace sabath
