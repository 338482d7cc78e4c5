// Fields that stand in some records only, numbers that are none, options that turn something off.
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "fields/fields.h"
#include "sabath/error.h"

namespace sabath {

struct Sticker {  // may be made of one text, and is no text
  std::string text;
};

template <>
struct Described<Sticker> {
  using Of = Sticker;
  static constexpr Field table[] = {SABATH_FIELD(text, .required = true)};
};

struct Sheet {
  std::vector<Sticker> stickers;
};

template <>
struct Described<Sheet> {
  using Of = Sheet;
  static constexpr Field table[] = {SABATH_FIELD(stickers)};
};

struct Jar {
  std::string label;
  std::vector<double> levels;
  std::vector<std::pair<std::string, double>> sizes;
  std::map<std::string, std::filesystem::path> lids;
  std::chrono::seconds age{5};
  std::string shape;
  std::uint64_t pieces = 0;
  bool sealed = true, empty = false;
  int exit = 0;
};

template <>
struct Described<Jar> {
  using Of = Jar;
  static bool is_full(const void* jar) { return !static_cast<const Jar*>(jar)->empty; }
  static const std::vector<double>* levels_of(const Jar& jar) { return jar.empty ? nullptr : &jar.levels; }
  static std::string_view shapes() { return "round|square"; }
  static constexpr Field table[] = {
      SABATH_FIELD(label, .printable_max = 4),
      SABATH_VALUE("levels", levels_of, .any_number = true),
      SABATH_FIELD(sizes, .any_number = true, .printable_max = 9, .only_if = is_full),
      SABATH_FIELD(lids),
      SABATH_FIELD(age, .value = "SECONDS"),
      SABATH_FIELD(shape, .find_words = shapes),
      SABATH_FIELD(pieces, .required = true),
      SABATH_FIELD_AS("open", sealed, .opposite = true),
      SABATH_FIELD(exit),
  };
};

struct Crate {
  std::optional<Jar> jar;
};

template <>
struct Described<Crate> {
  using Of = Crate;
  static WholeRecord<Jar> jar_of(const Crate& crate) { return {crate.jar ? &*crate.jar : nullptr}; }
  static constexpr Field table[] = {SABATH_VALUE("jar", jar_of)};
};

namespace {

Jar jar_in(std::string_view text) {
  const JsonValue value = parse_json(text, "request", {}, FailureKind::usage);
  JsonObject object(value, "request", "a request", FailureKind::usage);
  return request_in<Jar>(object);
}

void set(Jar& jar, std::string_view key, const std::string& text) {
  for (const Field& field : Described<Jar>::table) {
    if (field.key == key) field.type->parse(field, "--option", text, field.at(&jar));
  }
}

TEST(FieldForms, NumbersTextsAndKeysOfSomeRecords) {
  Jar jar;
  jar.label = "a\nbcd";
  jar.levels = {3, 0.5, -std::numeric_limits<double>::infinity()};
  jar.sizes = {{"x\ty", std::numeric_limits<double>::quiet_NaN()}};
  const Json full = element_json(jar);
  EXPECT_EQ(full.at("levels").dump(), R"([3,0.5,"-Infinity"])");
  EXPECT_EQ(full.at("sizes").dump(), R"({"x\\x09y":"NaN"})");
  EXPECT_EQ(full.at("label").get<std::string>().find('\n'), std::string::npos);
  EXPECT_EQ(full.at("open"), false);
  jar.empty = true;
  const Json empty = element_json(jar);
  EXPECT_TRUE(empty.at("levels").is_null());
  EXPECT_FALSE(empty.contains("sizes"));
  EXPECT_TRUE(description_of(Described<Jar>::table)[2].at("absent").get<bool>());
}

TEST(FieldForms, ARecordWithinAnotherHasItsSchema) {
  Crate crate;
  EXPECT_EQ(record_text(crate), R"({"schema":1,"jar":null})");
  crate.jar.emplace();
  EXPECT_EQ(record_text(crate).find(R"({"schema":1,"jar":{"schema":1,"label":"")"), 0U);
}

TEST(FieldForms, RequestsAndOptions) {
  EXPECT_THROW(static_cast<void>(jar_in("{}")), Error);
  EXPECT_THROW(static_cast<void>(jar_in(R"({"pieces": 1, "shape": "oval"})")), Error);
  Jar jar = jar_in(R"({"pieces": 1, "open": true, "lids": {"a": "/lid"}, "shape": "round"})");
  EXPECT_FALSE(jar.sealed);
  EXPECT_EQ(jar.lids.at("a"), "/lid");
  set(jar, "age", "90");
  EXPECT_EQ(jar.age, std::chrono::seconds(90));
  EXPECT_THROW(set(jar, "age", "90s"), Error);
  EXPECT_THROW(set(jar, "shape", "oval"), Error);
  set(jar, "lids", "b=c=d");
  EXPECT_EQ(jar.lids.at("b"), "c=d");
  jar.sealed = true;
  set(jar, "open", "");
  EXPECT_FALSE(jar.sealed);
}

TEST(FieldForms, AListOfObjectsIsNoListOfTexts) {
  const auto sheet_in = [](std::string_view text) {
    const JsonValue value = parse_json(text, "request", {}, FailureKind::usage);
    JsonObject object(value, "request", "a request", FailureKind::usage);
    return request_in<Sheet>(object);
  };
  const Sheet sheet = sheet_in(R"({"stickers": [{"text": "a"}, {"text": "b"}]})");
  ASSERT_EQ(sheet.stickers.size(), 2U);
  EXPECT_EQ(sheet.stickers[1].text, "b");
  EXPECT_THROW(static_cast<void>(sheet_in(R"({"stickers": ["a"]})")), Error);
}

TEST(FieldForms, AnOptionWithoutItsValueIsNotTheDefault) {
  Jar jar;
  EXPECT_THROW(set(jar, "label", ""), Error);
}

}  // namespace
}  // namespace sabath
