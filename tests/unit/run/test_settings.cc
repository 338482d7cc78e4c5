#include <gtest/gtest.h>

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

TEST(Variants, AreEveryCombination) {
  const auto all =
      variants({{"epochs", "3"}}, {{"lr", {"1", "2"}}, {"b", {"x"}}, {"c", {"p", "q"}}}, {"epochs", "lr", "b", "c"});
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].config, (Config{{"epochs", "3"}, {"lr", "1"}, {"b", "x"}, {"c", "q"}}));
  EXPECT_EQ(all[1].name, "lr=1,c=q");
  EXPECT_EQ(variants({}, {{"lr", {"1"}}}, {"lr"}).front().name, "");
}

// A directory is made by this name, so whatever a value says, it stays one component and stays its own.
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
