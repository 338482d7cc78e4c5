#include "environments/toml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "refusal.h"

namespace sabath {
namespace {

using testing::HasSubstr;

// As JSON, so that a case is one line.
std::string shown(const JsonValue& value) {
  if (const auto* const truth = value.get<bool>()) return *truth ? "true" : "false";
  if (const auto* const number = value.get<std::uint64_t>()) return std::to_string(*number);
  if (const auto* const number = value.get<JsonNumber>()) return number->text;
  if (const auto* const text = value.get<std::string>()) return "'" + *text + "'";
  std::string all;
  if (const auto* const array = value.get<JsonValue::Array>()) {
    for (const JsonValue& one : *array) all += (all.empty() ? "" : ",") + shown(one);
    return "[" + all + "]";
  }
  for (const JsonMember& member : *value.get<JsonValue::Object>())
    all += (all.empty() ? "" : ",") + member.key + ":" + shown(member.value);
  return "{" + all + "}";
}
std::string toml_read(std::string_view text) { return shown(parse_toml(text, "a.toml")); }

TEST(Toml, ReadsWhatLockFilesHave) {
  EXPECT_EQ(toml_read(""), "{}");
  EXPECT_EQ(toml_read("# comment\r\na = 1 # more\r\n"), "{a:1}");
  EXPECT_EQ(toml_read("a.b = 'x'\na.c = \"y\\t\\u00e9\\\"\""), "{a:{b:'x',c:'y\t\xc3\xa9\"'}}");
  EXPECT_EQ(toml_read("[a]\nx = 1\n[[b]]\ny = 2\n[b.c]\nz = 3\n[[b]]\ny = 4\n"), "{a:{x:1},b:[{y:2,c:{z:3}},{y:4}]}");
  EXPECT_EQ(toml_read("[[p]]\n[[p.w]]\nn = 1\n[p.w.h]\ns = 'd'\n[[p.w]]\nn = 2"), "{p:[{w:[{n:1,h:{s:'d'}},{n:2}]}]}");
  EXPECT_EQ(toml_read("a = [\n  { u = 'x', t = 2026-10-22T00:02:38Z, s = 1_000 }, # one\n]"),
            "{a:[{u:'x',t:'2026-10-22T00:02:38Z',s:1000}]}");
  EXPECT_EQ(toml_read("a = true\nb = -5\nc = 1.5e3\nd = 0xff\ne = [ ]\nf = {}\n"),
            "{a:true,b:-5,c:1.5e3,d:255,e:[],f:{}}");
  EXPECT_EQ(toml_read("a = '''\nx'y\n'''\nb = \"\"\"one \\\n   two\"\"\""), "{a:'x'y\n',b:'one two'}");
  EXPECT_EQ(toml_read("\"a b\" = 1\n'c.d'.e = 2"), "{a b:1,c.d:{e:2}}");
  EXPECT_EQ(parse_toml("a = 1\n\nb = '''\n\n'''\nc = 2", "").get<JsonValue::Object>()->back().line, 6U);
}

TEST(Toml, RefusesWhatIsNone) {
  for (const auto& [text, why] : std::initializer_list<std::pair<std::string, std::string>>{
           {"a = 1\na = 2", "a.toml:2: \"a\" appears twice, first in line 1"},
           {"[a]\n[a]", "a.toml:2: \"a\" appears twice"},
           {"a = {x = 1}\n[a.b]", "a.toml:2: \"a\" appears twice"},
           {"a = [1]\n[[a]]", "a.toml:2: \"a\" appears twice"},
           {"[[a]]\n[a]", "a.toml:2: \"a\" appears twice"},
           {"a = 'x'\na.b = 1", "a.toml:2: \"a\" appears twice"},
           {"a", "followed by no ="},
           {"a = ", "a value is missing"},
           {"a = 1 2", "does not end here"},
           {"a = 'x", "a text does not end on its line"},
           {"a = '''x", "a text does not end"},
           {"a = \"\\q\"", "an escape"},
           {"a = \"\\ud800\"", "an escape"},
           {"a = \"x\x01\"", "a control character"},
           {"a = 012", "no value of TOML"},
           {"a = 1__0", "no value of TOML"},
           {"a = 99999999999999999999", "no value of TOML"},
           {"a = inf", "no value of TOML"},
           {"a = [1 2]", "separated by commas"},
           {"a = {x = 1 y = 2}", "commas between them"},
           {"[a\nb = 1", "does not end with ]"},
           {"a = \xff", "no UTF-8"},
           {"= 1", "is no key"},
       })
    EXPECT_THAT(refusal_of([&, &text = text] { (void)toml_read(text); }), HasSubstr(why)) << text;
}

TEST(Toml, HasBounds) {
  EXPECT_THAT(refusal_of([] { (void)toml_read("a = " + std::string(100'000, '[')); }), HasSubstr("nested deeper"));
  EXPECT_THAT(refusal_of([] { (void)toml_read("a = " + std::string(100'000, '{')); }), HasSubstr("no key"));
  std::string deep = "a = ", dotted = "x";
  for (int i = 0; i < 1000; ++i) deep += "{a = ", dotted += ".x";
  EXPECT_THAT(refusal_of([&] { (void)toml_read(deep); }), HasSubstr("nested deeper"));
  EXPECT_THAT(refusal_of([&] { (void)toml_read(dotted + " = 1"); }), HasSubstr("a key of more than"));
  EXPECT_THAT(refusal_of([&] { (void)toml_read("[" + dotted + "]"); }), HasSubstr("a key of more than"));
  std::string many;
  for (int i = 0; i < 200; ++i) many += "[[a]]\n";
  EXPECT_THAT(refusal_of([&] { (void)parse_toml(many, "a.toml", {.values_max = 100}); }),
              HasSubstr("more than 100 values"));
  EXPECT_THAT(refusal_of([] { (void)parse_toml("a = 1 # long", "a.toml", {.size_max = 5}); }),
              HasSubstr("longer than"));
}

}  // namespace
}  // namespace sabath
