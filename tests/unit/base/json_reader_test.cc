#include "base/json_reader.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "sabath/error.h"

namespace sabath {
namespace {

std::string error_of(const std::string& text, const JsonLimits& limits = {}) {
  try {
    (void)parse_json(text, "r.json", limits);
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::invalid);
    return error.failure().message;
  }
  return {};
}

TEST(JsonReader, ReadsEveryType) {
  const JsonValue root = parse_json(
      R"({"n": null, "b": true, "u": 18446744073709551615, "i": -5, "f": 0.124, "s": "h\u00e9", "a": [1, []], "o": {}})",
      "r.json");
  const auto& members = *root.get<JsonValue::Object>();
  ASSERT_EQ(members.size(), 8u);
  EXPECT_TRUE(members[0].value.is_null());
  EXPECT_EQ(*members[1].value.get<bool>(), true);
  EXPECT_EQ(*members[2].value.get<std::uint64_t>(), 18446744073709551615u);
  EXPECT_EQ(members[3].value.get<JsonNumber>()->text, "-5");
  EXPECT_EQ(members[4].value.get<JsonNumber>()->text, "0.124");
  EXPECT_EQ(*members[5].value.get<std::string>(), "h\xC3\xA9");
  EXPECT_EQ(members[6].value.get<JsonValue::Array>()->size(), 2u);
  EXPECT_EQ(members[7].key, "o");
}

TEST(JsonReader, KnowsTheLineOfEachValue) {
  const JsonValue root = parse_json("{\n\"a\": 1\n,\n\"b\": [\n2,\n3\n],\n\"c\": \"x\"}\n", "r.json");
  const auto& members = *root.get<JsonValue::Object>();
  EXPECT_EQ(root.line, 1u);
  EXPECT_EQ(members[0].line, 2u);
  EXPECT_EQ(members[0].value.line, 2u) << "a number ends before the newline that ends it";
  EXPECT_EQ(members[1].value.line, 4u);
  EXPECT_EQ((*members[1].value.get<JsonValue::Array>())[0].line, 5u);
  EXPECT_EQ((*members[1].value.get<JsonValue::Array>())[1].line, 6u);
  EXPECT_EQ(members[2].line, 8u);
}

TEST(JsonReader, RefusesTheMalformed) {
  for (const char* text : {"", " ", "{", "[1,]", "{\"a\":1,}", "{'a':1}", "[NaN]", "[Infinity]", "[1e999]", "[01]",
                           "[1] x", "// c\n[]", "{\"a\" 1}", "[\"\x01\"]", "[\"\xFF\"]", "[\"\\ud800\"]", "nul"}) {
    const std::string message = error_of(text);
    EXPECT_TRUE(message.starts_with("r.json:")) << text << ": " << message;
    for (const char c : message) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << text;
  }
  EXPECT_TRUE(error_of("{\n\n  \"a\": x\n}").starts_with("r.json:3: malformed JSON")) << error_of("{\n\n  \"a\": x\n}");
}

TEST(JsonReader, RefusesDuplicateKeys) {
  EXPECT_EQ(error_of("{\"a\": 1,\n\"b\": 2,\n\"a\": 3}"), "r.json:3: key \"a\" appears twice, first in line 1");
  EXPECT_EQ(error_of("{\"a\": {\"a\": 1}}"), "");
}

TEST(JsonReader, IsBounded) {
  EXPECT_EQ(error_of(std::string(32, '[') + std::string(32, ']')), "");
  EXPECT_EQ(error_of(std::string(33, '[') + std::string(33, ']')), "r.json:1: nested deeper than 32 levels");
  EXPECT_EQ(error_of(std::string(10'000, '[')), "r.json:1: nested deeper than 32 levels");
  EXPECT_NE(error_of("[1, 2, 3]", {.size_max = 8}), "");
  EXPECT_NE(error_of("[1, 2, 3]", {.values_max = 3}), "");
  EXPECT_EQ(error_of("[1, 2, 3]", {.size_max = 9, .values_max = 4}), "");
}

TEST(JsonReader, ManyKeysAreNotQuadratic) {
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i) text += "\"key" + std::to_string(i) + "\": 0,";
  text += "\"key0\": 0}";
  EXPECT_EQ(error_of(text), "r.json:1: key \"key0\" appears twice, first in line 1");
}

class JsonObjectTest : public testing::Test {
 protected:
  static std::string message(const std::string& text, void (*take)(JsonObject&)) {
    const JsonValue value = parse_json(text, "r.json");
    try {
      JsonObject object(value, "r.json", "a thing");
      take(object);
      object.finish();
    } catch (const Error& error) {
      return error.failure().message;
    }
    return {};
  }
};

TEST_F(JsonObjectTest, SuggestsTheNearestKey) {
  const auto take = [](JsonObject& object) { (void)object.try_text("checksum"), (void)object.try_uint("size"); };
  EXPECT_EQ(message("{\n\"checksun\": 1}", take), "r.json:2: unknown key \"checksun\" (did you mean \"checksum\"?)");
  EXPECT_EQ(message("{\"colour\": 1}", take), "r.json:1: unknown key \"colour\"");
  EXPECT_EQ(message("{\"\\u001b[0m\": 1}", take), "r.json:1: unknown key \"\\x1b[0m\"");
  EXPECT_EQ(message("{\"size\": null, \"checksum\": null}", take), "") << "null is absent";
}

TEST_F(JsonObjectTest, SaysOnceWhatItMayHave) {
  const JsonValue value = parse_json("{\"colour\": 1}", "r.json");
  JsonObject object(value, "r.json", "a thing");
  for (int i = 0; i < 2; ++i) (void)object.try_text("name"), (void)object.try_uint("size");
  try {
    object.finish();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().hint, "a thing may have: name, size");
  }
}

TEST_F(JsonObjectTest, ChecksTypes) {
  EXPECT_EQ(message("{\"a\": 1}", [](JsonObject& o) { (void)o.text("a"); }),
            "r.json:1: \"a\" must be a string, not a whole number");
  EXPECT_EQ(message("{}", [](JsonObject& o) { (void)o.text("a"); }), "r.json:1: a thing needs the key \"a\"");
  EXPECT_EQ(message("{\"a\": null}", [](JsonObject& o) { (void)o.text("a"); }),
            "r.json:1: a thing needs the key \"a\"");
  EXPECT_EQ(message("{\"a\": \"\"}", [](JsonObject& o) { (void)o.try_text("a"); }), "r.json:1: \"a\" is empty");
  EXPECT_EQ(message("{\"a\": -1}", [](JsonObject& o) { (void)o.try_uint("a"); }),
            "r.json:1: \"a\" must be a whole number of at least 0, not a number");
  EXPECT_EQ(message("{\"a\": 1.5}", [](JsonObject& o) { (void)o.try_uint("a"); }),
            "r.json:1: \"a\" must be a whole number of at least 0, not a number");
  EXPECT_EQ(message("{\"a\": {}}", [](JsonObject& o) { (void)o.texts("a"); }),
            "r.json:1: \"a\" must be an array, not an object");
  EXPECT_EQ(message("{\"a\": [\"x\",\n1]}", [](JsonObject& o) { (void)o.texts("a"); }),
            "r.json:2: an element of \"a\" must be a string, not a whole number");
  EXPECT_EQ(message("{\"a\": \"x\\u0000\"}", [](JsonObject& o) { (void)o.try_text("a"); }),
            "r.json:1: \"a\" holds a control character");
  EXPECT_EQ(message("{\"a\": \"x\\u009b\"}", [](JsonObject& o) { (void)o.try_text("a"); }),
            "r.json:1: \"a\" holds a control character");
  EXPECT_EQ(message("{\"a\": \"x\\n\\ty\"}", [](JsonObject& o) { (void)o.try_text("a"); }), "");
  EXPECT_EQ(message("{\"a\": 1}", [](JsonObject& o) { (void)o.flag("a"); }),
            "r.json:1: \"a\" must be true or false, not a whole number");
  EXPECT_EQ(message("{\"a\": []}", [](JsonObject& o) { (void)o.some_texts("a"); }), "r.json:1: \"a\" is empty");
  EXPECT_EQ(message("[]", [](JsonObject&) {}), "r.json:1: a thing must be an object, not an array");
}

TEST_F(JsonObjectTest, TakesFlags) {
  const JsonValue value = parse_json("{\"a\": true, \"b\": false, \"c\": null}", "r.json");
  JsonObject object(value, "r.json", "a thing");
  EXPECT_TRUE(object.flag("a"));
  for (const char* key : {"b", "c", "d"}) EXPECT_FALSE(object.flag(key)) << key;
}

TEST_F(JsonObjectTest, RefusesByTheKindThatItIsGiven) {
  const JsonValue value = parse_json("{\"a\": {\"b\": 1}}", "request");
  JsonObject object(value, "request", "the request", FailureKind::usage);
  const auto kind = [](const std::function<void()>& take) {
    try {
      take();
    } catch (const Error& error) {
      return error.failure().kind;
    }
    return FailureKind::internal;
  };
  EXPECT_EQ(kind([&] { object.finish(); }), FailureKind::usage);
  EXPECT_EQ(kind([&] { (void)object.text("z"); }), FailureKind::usage);
  EXPECT_EQ(kind([&] { (void)object.try_object("a", "an a")->text("b"); }), FailureKind::usage);
  EXPECT_EQ(kind([&] { (void)JsonObject(value, "r.json", "a thing").text("a"); }), FailureKind::invalid);
}

}  // namespace
}  // namespace sabath
