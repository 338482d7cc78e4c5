#include "recipe/edit.h"

#include <gtest/gtest.h>

#include "sabath/error.h"

namespace sabath {
namespace {

std::string edited(const std::string& text, const std::string& change) {
  return edited_recipe(text, "x.json", parse_recipe_edit(change));
}
std::string without(const std::string& text, std::vector<std::string> key) {
  return edited_recipe(text, "x.json", {std::move(key), ""});
}

TEST(RecipeEdit, ReplacesAddsAndKeepsTheRest) {
  const std::string text = "{ \"a\" : 1,\n    \"licence\":  \"MI\\\"T\" ,\"tags\": {\"x\": [1, {\"y\": 2}]}\n}\n";
  EXPECT_EQ(edited(text, "licence=BSD-2-Clause"),
            "{ \"a\" : 1,\n    \"licence\":  \"BSD-2-Clause\" ,\"tags\": {\"x\": [1, {\"y\": 2}]}\n}\n");
  EXPECT_EQ(edited(text, "tags.x=3"), "{ \"a\" : 1,\n    \"licence\":  \"MI\\\"T\" ,\"tags\": {\"x\": 3}\n}\n");
  EXPECT_EQ(edited(text, "tags.z=true"),
            "{ \"a\" : 1,\n    \"licence\":  \"MI\\\"T\" ,\"tags\": {\"x\": [1, {\"y\": 2}], \"z\": true}\n}\n");
  EXPECT_EQ(edited("{\n  \"a\": 1\n}\n", "tags.x.y=t"), "{\n  \"a\": 1,\n  \"tags\": {\"x\":{\"y\":\"t\"}}\n}\n");
  EXPECT_EQ(edited("{\"a\": 1}", "b=c"), "{\"a\": 1, \"b\": \"c\"}");
  EXPECT_EQ(edited("{}", "b=c"), "{\n  \"b\": \"c\"\n}");
  EXPECT_EQ(edited("{\n  \"tags\": null\n}", "tags.x=1"), "{\n  \"tags\": {\n    \"x\": 1\n  }\n}");
}

TEST(RecipeEdit, LongValuesStandOverLines) {
  const std::string long_one =
      R"(creators=[{"name": "Doe, Jane", "affiliation": "The University of Somewhere far away"}])";
  EXPECT_EQ(edited("{\n  \"a\": 1\n}", long_one),
            "{\n  \"a\": 1,\n  \"creators\": [\n    {\n      \"name\": \"Doe, Jane\",\n"
            "      \"affiliation\": \"The University of Somewhere far away\"\n    }\n  ]\n}");
}

TEST(RecipeEdit, TakesAway) {
  EXPECT_EQ(without("{\"a\": 1, \"b\": [2], \"c\": 3}", {"b"}), "{\"a\": 1, \"c\": 3}");
  EXPECT_EQ(without("{\"a\": 1, \"b\": 2}", {"a"}), "{\"b\": 2}");
  EXPECT_EQ(without("{\"a\": 1, \"b\": 2}", {"b"}), "{\"a\": 1}");
  EXPECT_EQ(without("{ \"a\": {\"x\": 1} }", {"a", "x"}), "{ \"a\": {} }");
  EXPECT_EQ(without("{\"a\": 1}", {"z"}), "{\"a\": 1}");
}

TEST(RecipeEdit, ReachesIntoListsById) {
  const std::string text =
      R"({"fragments": [ {"id": "a", "size": 1}, [], 3, {"x": {"id": "c"}, "id":"b.c" } ], "z": []})";
  EXPECT_EQ(edited(text, "fragments.a.size=2"),
            R"({"fragments": [ {"id": "a", "size": 2}, [], 3, {"x": {"id": "c"}, "id":"b.c" } ], "z": []})");
  EXPECT_EQ(edited(text, "fragments.b.c.size=2"),
            R"({"fragments": [ {"id": "a", "size": 1}, [], 3, {"x": {"id": "c"}, "id":"b.c", "size": 2 } ], "z": []})");
  EXPECT_EQ(
      edited_recipe(text, "x.json", {{"fragments", "b.c", "checksum", "sha256"}, "\"0\""}),
      R"({"fragments": [ {"id": "a", "size": 1}, [], 3, {"x": {"id": "c"}, "id":"b.c", "checksum": {"sha256":"0"} } ], "z": []})");
  EXPECT_EQ(without(text, {"fragments", "a", "size"}),
            R"({"fragments": [ {"id": "a"}, [], 3, {"x": {"id": "c"}, "id":"b.c" } ], "z": []})");
  for (const char* none : {"fragments.c.size=1", "fragments.a=1", "z.a.size=1"})
    EXPECT_THROW(edited(text, none), Error) << none;
  EXPECT_EQ(parse_recipe_edit("fragments.a.path=7").value, "\"7\"") << "a text, as elsewhere";
}

TEST(RecipeEdit, ValuesAreJsonOrTexts) {
  EXPECT_EQ(parse_recipe_edit("version=1.0").value, "\"1.0\"");
  EXPECT_EQ(parse_recipe_edit("tags.n=1.5").value, "1.5");
  EXPECT_EQ(parse_recipe_edit("title=a=b").value, "\"a=b\"");
  EXPECT_EQ(parse_recipe_edit("title=").value, "null");
  EXPECT_EQ(parse_recipe_edit("x=[1,2]").value, "[1,2]");
  EXPECT_EQ(parse_recipe_edit("x=\"q\"").value, "\"q\"");
  EXPECT_EQ(parse_recipe_edit("x={broken").value, "\"{broken\"");
  for (const char* none : {"", "=", "a", ".a=1", "a.=1", "a..b=1", "a.b.c.d.e=1", "\xff=1"})
    EXPECT_THROW(static_cast<void>(parse_recipe_edit(none)), Error) << none;
  EXPECT_THROW(edited("{\"a\": 3}", "a.b=1"), Error);
  EXPECT_THROW(edited("[]", "a=1"), Error);
  EXPECT_THROW(edited("{\"a\": ", "a=1"), Error);
}

}  // namespace
}  // namespace sabath
