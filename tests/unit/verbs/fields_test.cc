#include "fields/fields.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "fields/failure.h"
#include "sabath/error.h"
#include "verbs/verb.h"

namespace sabath {

struct Shelf {
  std::string name;
  std::uint64_t bytes = 0;
};

struct Pantry {
  std::string name, mode = "warm";
  std::vector<std::string> names;
  std::filesystem::path place;
  std::optional<std::uint64_t> bytes, count;
  std::optional<std::chrono::seconds> age;
  unsigned threads = 3;
  double ratio = 0.5;
  bool now = false, view = true;
  std::vector<Shelf> shelves;
  std::optional<Shelf> best;
};

template <>
struct Described<Shelf> {
  using Of = Shelf;
  static constexpr Field table[] = {SABATH_FIELD(name, .null_if_empty = true), SABATH_FIELD(bytes)};
};

template <>
struct Described<Pantry> {
  using Of = Pantry;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .required = true),
      SABATH_FIELD(mode, .words = "cold|warm"),
      SABATH_FIELD(names),
      SABATH_FIELD_AS("directory", place),
      SABATH_FIELD(bytes, .unit = "bytes"),
      SABATH_FIELD(count, .maximum = 9),
      SABATH_FIELD(age),
      SABATH_FIELD(threads),
      SABATH_FIELD(ratio),
      SABATH_FIELD(now),
      SABATH_FIELD(view),
  };
};

enum class Outline { round, square };

template <>
struct WordsOf<Outline> {
  static constexpr std::string_view words = "round|square";
  static std::string_view text(Outline shape) { return shape == Outline::round ? "round" : "square"; }
  static std::optional<Outline> parse(std::string_view text) {
    return text == "round"    ? std::optional(Outline::round)
           : text == "square" ? std::optional(Outline::square)
                              : std::nullopt;
  }
};

struct Biscuit {
  Outline shape = Outline::round;
  std::optional<Outline> lid;
  std::map<std::string, std::string> labels;
  std::vector<std::pair<std::string, double>> weights;
  std::optional<Failure> failure;
  std::optional<std::string> note;
  std::vector<std::string> guests;
};

std::string twice(const Biscuit& biscuit) { return biscuit.shape == Outline::round ? "oo" : "[][]"; }

template <>
struct Described<Biscuit> {
  using Of = Biscuit;
  static constexpr Field table[] = {
      SABATH_FIELD(shape),
      SABATH_FIELD(lid),
      SABATH_FIELD(labels),
      SABATH_FIELD(weights),
      SABATH_VALUE("twice", twice),
      SABATH_VALUE(
          "guests", [](const Of& of) { return of.guests.size(); }, .help = "how many", .null_if_empty = true),
      SABATH_FIELD(failure),
      SABATH_FIELD(note, .absent_if_empty = true),
  };
};

struct Tray {
  Biscuit best;
  std::vector<Biscuit> tins;
};

template <>
struct Described<Tray> {
  using Of = Tray;
  static constexpr Field table[] = {SABATH_FIELD(best), SABATH_FIELD(tins)};
};

struct Crock {
  bool sealed = false;
  std::optional<Sha256> seal;
};

template <>
struct Described<Crock> {
  using Of = Crock;
  static constexpr Field table[] = {
      SABATH_FIELD(sealed),
      SABATH_FIELD(seal, .only_if = SABATH_IF([](const Of& crock) { return crock.sealed; })),
  };
};

struct PantryRecord : Pantry {
  int exit = 0;
};

template <>
struct Described<PantryRecord> {
  using Of = PantryRecord;
  static constexpr Field table[] = {SABATH_FIELD(name, .null_if_empty = true),
                                    SABATH_FIELD(names),
                                    SABATH_FIELD_AS("directory", place),
                                    SABATH_FIELD(bytes),
                                    SABATH_FIELD(age),
                                    SABATH_FIELD(shelves),
                                    SABATH_FIELD(best),
                                    SABATH_FIELD(exit)};
};

namespace {

template <typename Request = Pantry>
Request read(std::string_view text) {
  const JsonValue value = parse_json(text, "request", {}, FailureKind::usage);
  JsonObject object(value, "request", "a request", FailureKind::usage);
  return request_in<Request>(object);
}

std::string refused(std::string_view text) {
  try {
    static_cast<void>(read(text));
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::usage);
    return error.what();
  }
  return "";
}

TEST(Fields, ReadWhatIsThereAndKeepTheDefaultOfWhatIsNot) {
  const Pantry least = read(R"({"name": "a"})");
  EXPECT_EQ(least.mode, "warm");
  EXPECT_EQ(least.threads, 3U);
  EXPECT_TRUE(least.view);
  EXPECT_FALSE(least.bytes);
  const Pantry all = read(
      R"({"name": "a", "mode": "cold", "names": ["x", "y"], "directory": "d", "bytes": "10k", "count": 9, "age": 60,
          "threads": 1, "ratio": 2, "now": true, "view": false})");
  EXPECT_EQ(all.mode, "cold");
  EXPECT_EQ(all.names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(all.place, "d");
  EXPECT_EQ(all.bytes, 10'000U);
  EXPECT_EQ(all.count, 9U);
  EXPECT_EQ(all.age, std::chrono::seconds(60));
  EXPECT_EQ(all.threads, 1U);
  EXPECT_EQ(all.ratio, 2);
  EXPECT_TRUE(all.now);
  EXPECT_FALSE(all.view);
}

TEST(Fields, RefuseWhatDoesNotFit) {
  EXPECT_NE(refused("{}").find("\"name\""), std::string::npos);
  EXPECT_NE(refused(R"({"name": "a", "nmaes": []})").find("did you mean \"names\""), std::string::npos);
  EXPECT_NE(refused(R"({"name": "a", "mode": "wram"})").find("\"mode\" cannot be 'wram'"), std::string::npos);
  EXPECT_NE(refused(R"({"name": "a", "count": 10})").find("is more than 9"), std::string::npos);
  EXPECT_NE(refused(R"({"name": "a", "threads": 4294967296})").find("is more than 4294967295"), std::string::npos);
  EXPECT_NE(refused(R"({"name": "a", "age": 3162240001})").find("is more than 100 years"), std::string::npos);
  EXPECT_NE(refused(R"({"name": "a", "age": 18446744073709551615})").find("is more than 100 years"), std::string::npos);
  EXPECT_NE(refused(R"({"name": "a", "now": 1})").find("true or false"), std::string::npos);
}

TEST(Fields, WriteInTheirOrderWithNullForWhatIsAbsent) {
  PantryRecord record;
  record.bytes = 18'446'744'073'709'551'615U;
  record.shelves = {{"", 1}, {"low", 2}};
  EXPECT_EQ(record_text(record),
            R"({"schema":1,"name":null,"names":[],"directory":"","bytes":18446744073709551615,"age":null,)"
            R"("shelves":[{"name":null,"bytes":1},{"name":"low","bytes":2}],"best":null,"exit":0})");
}

TEST(Fields, WordsObjectsAndGivenValues) {
  const Tray tray =
      read<Tray>(R"({"best": {"shape": "square", "labels": {"a": "b"}}, "tins": [{"lid": "round"}, {}]})");
  EXPECT_EQ(tray.best.shape, Outline::square);
  EXPECT_EQ(tray.best.labels.at("a"), "b");
  ASSERT_EQ(tray.tins.size(), 2U);
  EXPECT_EQ(tray.tins[0].lid, Outline::round);
  EXPECT_FALSE(tray.tins[1].lid);
  EXPECT_THROW(static_cast<void>(read<Tray>(R"({"best": {"shape": "sqare"}})")), Error);
  EXPECT_THROW(static_cast<void>(read<Tray>(R"({"tins": [{"taste": 1}]})")), Error);
  Biscuit biscuit;
  biscuit.shape = Outline::square;
  biscuit.weights = {{"b", 2}, {"a", 0.5}};
  biscuit.failure = Failure{FailureKind::usage, "m", "", {}};
  EXPECT_EQ(record_text(biscuit), R"({"schema":1,"shape":"square","lid":null,"labels":{},"weights":{"b":2.0,"a":0.5},)"
                                  R"("twice":"[][]","guests":null,)"
                                  R"("failure":{"kind":"usage","message":"m","hint":null}})");
  biscuit.note = "n";
  biscuit.guests = {"x"};
  EXPECT_NE(record_text(biscuit).find(R"("guests":1,)"), std::string::npos);
  EXPECT_NE(record_text(biscuit).find(R"("note":"n"})"), std::string::npos);
}

TEST(Fields, StandInSomeRecordsOnly) {
  EXPECT_EQ(record_text(Crock{}), R"({"schema":1,"sealed":false})");
  EXPECT_EQ(record_text(Crock{true, std::nullopt}), R"({"schema":1,"sealed":true,"seal":null})");
  const std::string digits(64, 'a');
  const Crock crock = read<Crock>(R"({"sealed": true, "seal": ")" + digits + R"("})");
  EXPECT_EQ(record_text(crock), R"({"schema":1,"sealed":true,"seal":"sha256:)" + digits + R"("})");
  EXPECT_THROW(static_cast<void>(read<Crock>(R"({"seal": "abc"})")), Error);
  EXPECT_TRUE(description_of(Described<Crock>::table)[1].at("absent"));
}

TEST(Fields, ADescriptionHasTheDefaultsOfARequest) {
  const Pantry pantry;
  const Json described = description_of(Described<Pantry>::table, &pantry);
  EXPECT_EQ(described[1].at("default"), "warm");
  EXPECT_EQ(described[7].at("default"), 3);
  EXPECT_FALSE(described[0].contains("default"));
  EXPECT_EQ(description_of(Described<Biscuit>::table)[0].at("words"), "round|square");
}

void check_keys(const Json& fields, const std::string& where) {
  std::set<std::string> keys;
  for (const Json& field : fields) {
    const auto key = field.at("key").get<std::string>();
    EXPECT_TRUE(keys.insert(key).second) << where << " has " << key << " twice";
    EXPECT_FALSE(field.at("help").get<std::string>().empty()) << where << '.' << key;
    EXPECT_FALSE(field.at("type").get<std::string>().empty()) << where << '.' << key;
    if (field.contains("fields")) check_keys(field.at("fields"), where + '.' + key);
  }
}

TEST(Fields, OfEachVerbAreExplained) {
  for (const LibraryVerb& verb : library_verbs()) {
    const Json described = description_of(verb);
    check_keys(described.at("request"), std::string(verb.name) + " request");
    check_keys(described.at("record"), std::string(verb.name) + " record");
    for (const Field& field : verb.request) {
      EXPECT_NE(field.type->read, nullptr) << verb.name << ' ' << field.key;
      EXPECT_TRUE(field.hidden || field.type->parse != nullptr) << verb.name << ' ' << field.key;
    }
    for (const Field& field : verb.record) EXPECT_NE(field.type->write, nullptr) << verb.name << ' ' << field.key;
    const bool ends = std::ranges::count(verb.record, "exit", &Field::key) == 1;
    EXPECT_TRUE(verb.record.empty() || ends || verb.name == "fetchers") << verb.name;
  }
}

}  // namespace
}  // namespace sabath
