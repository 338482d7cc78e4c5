#include <gtest/gtest.h>

#include <random>

#include "run/settings.h"
#include "sabath/error.h"

namespace sabath {
namespace {

TEST(Settings, AreKeyAndValues) {
  EXPECT_EQ(parse_setting("lr=0.1").values, std::vector<std::string>{"0.1"});
  EXPECT_EQ(parse_setting("lr=0.1,0.01").values, (std::vector<std::string>{"0.1", "0.01"}));
  EXPECT_EQ(parse_setting("shape=3\\,4,5").values, (std::vector<std::string>{"3,4", "5"}));
  EXPECT_EQ(parse_setting("name=a=b").values, std::vector<std::string>{"a=b"});
  EXPECT_EQ(parse_setting("empty=").values, std::vector<std::string>{""});
}

TEST(Settings, RefuseWhatIsNone) {
  for (const char* text : {"", "lr", "=1", "a b=1", "a/b=1", "a=\x01", "a=\xff", "a=b\nc", "a=\x1b[31m"}) {
    EXPECT_THROW(static_cast<void>(parse_setting(text)), Error) << text;
  }
  EXPECT_THROW(static_cast<void>(parse_setting("a=" + std::string(4097, 'x'))), Error);
}

TEST(Settings, AreReadFromJson) {
  const Config config = parse_config(R"({"lr":1e-3,"epochs":10,"augment":true,"data":{"cube":32},"none":null})", "f");
  EXPECT_EQ(config, (Config{{"lr", "1e-3"}, {"epochs", "10"}, {"augment", "true"}, {"data.cube", "32"}}));
  EXPECT_THROW(static_cast<void>(parse_config("[1]", "f")), Error);
  EXPECT_THROW(static_cast<void>(parse_config(R"({"a":[1]})", "f")), Error);
  EXPECT_THROW(static_cast<void>(parse_config(R"({"a b":1})", "f")), Error);
}

constexpr const char* yaml = R"(%YAML 1.1
---
# hyper-parameters
lr: 1e-3
epochs: 10
augment: yes
data: {cube: 32, "kind": 'a: b'}
net:
  layers:
    count: 007
note: |
  one line
empty:
tilde: ~
quoted: "null"
)";

TEST(Settings, AreReadFromYamlAsTheyStand) {
  const Config wanted{{"lr", "1e-3"},      {"epochs", "10"},      {"augment", "yes"},
                      {"data.cube", "32"}, {"data.kind", "a: b"}, {"net.layers.count", "007"},
                      {"quoted", "null"}};
  const std::string text = yaml;
  EXPECT_EQ(parse_config(std::string(text).replace(text.find("note"), 21, ""), "f.yaml"), wanted);
  EXPECT_THROW(static_cast<void>(parse_config(text, "f.yml")), Error);  // a value with a newline is no argument
  EXPECT_EQ(parse_config("", "f.yaml"), Config{});
  EXPECT_EQ(parse_config("# nothing\n", "f.yaml"), Config{});
  EXPECT_EQ(parse_config(R"({"lr": 0.1, "a": {"b": "c"}})", "f.yml"), (Config{{"lr", "0.1"}, {"a.b", "c"}}));
}

TEST(Settings, RefuseYamlThatGrowsOrActs) {
  std::string deep, many;
  for (int i = 0; i < 100'000; ++i) deep += '[';
  for (int i = 0; i < 10'001; ++i) many += "k" + std::to_string(i) + ": 1\n";
  for (const std::string& text : {std::string("- 1"),
                                  std::string("a: [1]"),
                                  std::string("a: &x 1\nb: *x"),
                                  std::string("a: *x"),
                                  std::string("a: &a [*a, *a]"),
                                  std::string("<<: {a: 1}"),
                                  std::string("a: !!python/object:os.system x"),
                                  std::string("!x {a: 1}"),
                                  std::string("a: 1\na: 2"),
                                  std::string("a: {b: 1}\na.b: 2"),
                                  std::string("a: 1\n---\nb: 1"),
                                  std::string("a b: 1"),
                                  std::string("? [a]\n: 1"),
                                  std::string("{a: {a: {a: {a: {a: {a: {a: {a: {a: 1}}}}}}}}}"),
                                  std::string("a: \"\\u0007\""),
                                  std::string("a: \xff"),
                                  std::string("\xff\xfe"
                                              "a\0:\0",
                                              6),
                                  std::string("a: \"x"),
                                  std::string("text"),
                                  std::string("a: b\n c: d"),
                                  "a: " + deep,
                                  deep,
                                  many,
                                  "a: " + std::string(5000, 'x'),
                                  "a: '" + std::string(2 << 20, 'x') + "'"}) {
    try {
      static_cast<void>(parse_config(text, "f.yaml"));
      ADD_FAILURE() << text.substr(0, 60);
    } catch (const Error& error) {
      const FailureKind kind = error.failure().kind;
      EXPECT_TRUE(kind == FailureKind::invalid || kind == FailureKind::usage) << text.substr(0, 60);
      EXPECT_LT(error.failure().message.size(), 1000u) << text.substr(0, 60);
    }
  }
}

// Any file gives a value or an Error, in no time.
TEST(Settings, SurviveDamagedYaml) {
  const unsigned seed = 20261121;
  std::mt19937 random(seed);
  const std::string_view bytes =
      "{}[]&*!|>'\"%@`,:?-#~ \n\t\r\0\x80\xff"
      "0ab";
  for (int round = 0; round < 5000; ++round) {
    std::string text = yaml;
    for (unsigned i = 0; i <= random() % 4; ++i) {
      const std::size_t at = random() % text.size();
      random() % 2 == 0 ? text.replace(at, 1, 1, bytes[random() % bytes.size()])
                        : text.insert(at, random() % 3, bytes[random() % bytes.size()]);
    }
    try {
      static_cast<void>(parse_config(text, "f.yaml"));
    } catch (const Error&) {}
  }
}

TEST(Variants, AreEveryCombination) {
  const auto all =
      variants({{"epochs", "3"}}, {{"lr", {"1", "2"}}, {"b", {"x"}}, {"c", {"p", "q"}}}, {"epochs", "lr", "b", "c"});
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].config, (Config{{"epochs", "3"}, {"lr", "1"}, {"b", "x"}, {"c", "q"}}));
  EXPECT_EQ(all[1].name, "lr=1,c=q");
  EXPECT_EQ(variants({}, {{"lr", {"1"}}}, {"lr"}).front().name, "");
}

// A directory is made by this name: for any value it stays one component, and two values have two names.
TEST(Variants, HaveNamesThatAreDirectories) {
  const auto all =
      variants({}, {{"path", {"../../etc", "..\\..\\etc", "a b", "a/b", std::string(300, 'x')}}}, {"path"});
  for (const Variant& one : all) {
    EXPECT_EQ(one.name.find('/'), std::string::npos) << one.name;
    EXPECT_LE(one.name.size(), 130u);
    for (const Variant& other : all) EXPECT_TRUE(&one == &other || one.name != other.name);
  }
}

TEST(Variants, RefuseUnknownKeysAndTooManyRuns) {
  try {
    static_cast<void>(variants({}, {{"epoch", {"1"}}}, {"epochs", "lr"}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::usage);
    EXPECT_EQ(error.failure().hint, "did you mean epochs?");
  }
  const std::vector<std::string> many(40, "x");
  EXPECT_THROW(static_cast<void>(variants({}, {{"a", many}, {"b", many}}, {"a", "b"})), Error);
}

}  // namespace
}  // namespace sabath
