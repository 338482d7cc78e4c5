#include "formats/protobuf.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

#include "formats/crc32c.h"

namespace sabath {
namespace {

using Wire = ProtobufField::Wire;
using namespace std::string_literals;

TEST(Crc32c, HasTheValuesOfRfc3720) {
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  std::string ascending;
  for (int i = 0; i < 32; ++i) ascending += static_cast<char>(i);
  EXPECT_EQ(crc32c(ascending), 0x46dd794eU);
}

TEST(Crc32c, IsTheSameByTablesAndInPieces) {
  std::mt19937 random(7);
  std::string bytes(1000, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  for (std::size_t from = 0; from < 20; ++from) {
    for (std::size_t length : {0, 1, 7, 8, 9, 63, 500}) {
      const std::string_view part = std::string_view(bytes).substr(from, length);
      EXPECT_EQ(crc32c(part), crc32c_by_tables(part));
      EXPECT_EQ(crc32c(part), crc32c(part.substr(length / 3), crc32c(part.substr(0, length / 3))));
    }
  }
}

TEST(Protobuf, ReadsWhatItWrites) {
  ProtobufWriter inner, outer;
  inner.add_float(2, 0.5F);
  outer.add_double(1, -0.25);
  outer.add_varint(2, static_cast<std::uint64_t>(std::int64_t{-3}));
  outer.add_bytes(5, inner.text());
  outer.add_varint(536870911, 300);
  ProtobufReader reader(outer.text());
  ProtobufField field;
  ASSERT_TRUE(reader.next(field));
  EXPECT_TRUE(field.is(1, Wire::fixed64));
  EXPECT_EQ(field.as_double(), -0.25);
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.as_integer(), -3);
  ASSERT_TRUE(reader.next(field));
  ASSERT_TRUE(field.is(5, Wire::bytes));
  EXPECT_EQ(field.text, "\x15\0\0\0\x3f"s);
  ASSERT_TRUE(reader.next(field));
  EXPECT_TRUE(field.is(536870911, Wire::varint));
  EXPECT_EQ(field.bits, 300U);
  EXPECT_FALSE(reader.next(field));
  EXPECT_FALSE(reader.broken());
}

TEST(Protobuf, EndsWhereBytesAreNoField) {
  const std::string cases[] = {
      "\x08"s,                                              // a key without a number
      "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"s,      // 65 bits
      "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"s,  // eleven bytes
      "\x09\x01\x02"s,                                      // a double of two bytes
      "\x0a\x05zu"s,                                        // longer than there is
      "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,      // longer than any
      "\x0b"s,
      "\x0c"s,
      "\x0e"s,      // groups, and no type
      "\x00\x00"s,  // field 0
  };
  for (const std::string& text : cases) {
    ProtobufReader reader(text);
    ProtobufField field;
    EXPECT_FALSE(reader.next(field));
    EXPECT_TRUE(reader.broken());
    EXPECT_FALSE(reader.next(field));
  }
}

}  // namespace
}  // namespace sabath
