#include "environments/python_version.h"

#include <gtest/gtest.h>

#include <tuple>

#include "environments/package_name.h"
#include "environments/wheel_name.h"

namespace sabath {
namespace {

PythonVersion version(std::string_view text) {
  const auto read = try_python_version(text);
  EXPECT_TRUE(read) << text;
  return read.value_or(PythonVersion{});
}

TEST(Version, IsOrderedAsPep440Says) {
  const std::vector<std::string> rising{"1.0.dev1",         "1.0a1.dev1", "1.0a1",     "1.0a2",       "1.0b1",
                                        "1.0rc1",           "1.0",        "1.0+local", "1.0+local.2", "1.0+local.10",
                                        "1.0.post1.dev1",   "1.0.post1",  "1.0.1",     "1.2",         "1.10",
                                        "2026.10.19.post1", "1!0.1"};
  for (std::size_t i = 0; i < rising.size(); ++i)
    for (std::size_t j = 0; j < rising.size(); ++j)
      EXPECT_EQ(compare(version(rising[i]), version(rising[j])), i <=> j) << rising[i] << " " << rising[j];
}

TEST(Version, HasManySpellings) {
  for (const auto& [one, other] :
       std::initializer_list<std::pair<std::string, std::string>>{{"1.0", "1"},
                                                                  {"v1.0", "1.0.0"},
                                                                  {"1.0ALPHA1", "1.0a1"},
                                                                  {"1.0-rc.1", "1.0rc1"},
                                                                  {"1.0-1", "1.0.post1"},
                                                                  {"1.0.dev", "1.0.dev0"},
                                                                  {"1.0+A-b", "1.0+a.b"},
                                                                  {"1.0_preview_2", "1.0rc2"}})
    EXPECT_EQ(compare(version(one), version(other)), std::strong_ordering::equal) << one;
  EXPECT_EQ(public_text(version("V1.0-Beta.2-dev+X_1")), "1.0b2.dev0+x.1");
  for (const std::string_view text : {"", "x", "1.", "1..0", "1.0+", "1.0+a..b", "1.0 1", "1!", "1.0a1a2", "1.0\n2",
                                      "99999999999999999999999", "1.0/../2"})
    EXPECT_FALSE(try_python_version(text)) << text;
  EXPECT_FALSE(try_python_version(std::string(201, '1')));
}

TEST(Version, MeetsSpecifiers) {
  for (const auto& [text, specifier, expected] :
       std::initializer_list<std::tuple<std::string, std::string, bool>>{{"1.5", ">=1.2,<2", true},
                                                                         {"2.0rc1", "<2", false},
                                                                         {"2.0rc1", "<2rc2", true},
                                                                         {"1.0.post1", ">1.0", false},
                                                                         {"1.0.post1", ">=1.0", true},
                                                                         {"1.0+cu12", "==1.0", true},
                                                                         {"1.0", "==1.0+cu12", false},
                                                                         {"1.10.3", "==1.10.*", true},
                                                                         {"1.1", "==1.10.*", false},
                                                                         {"1.4.9", "~=1.4.2", true},
                                                                         {"1.5", "~=1.4.2", false},
                                                                         {"1.9", "~=1.4", true},
                                                                         {"1.0", "!=1.0", false},
                                                                         {"1.0", "!=1.*", false},
                                                                         {"1.0", "===1.0", true},
                                                                         {"3.12.0", "==3.11.*", false},
                                                                         {"3.11.7", ">=3.8, <4", true},
                                                                         {"1.0", "", true},
                                                                         {"1!1.0", ">=5", true}}) {
    const auto read = try_version_specifier(specifier);
    ASSERT_TRUE(read) << specifier;
    EXPECT_EQ(meets(version(text), *read), expected) << text << " " << specifier;
  }
  for (const std::string_view text : {"1.0", ">", ">=x", "~=1", ">=1.*", "=1.0", ">1.0+x"})
    EXPECT_FALSE(try_version_specifier(text)) << text;
  EXPECT_TRUE(is_pinned(*try_version_specifier("==1.0")));
  EXPECT_FALSE(is_pinned(*try_version_specifier("==1.*")));
}

TEST(Name, IsNormalised) {
  EXPECT_EQ(normal_name("Foo._-Bar"), "foo-bar");
  EXPECT_EQ(normal_name("x"), "x");
  for (const std::string_view text : {"", "-x", "x-", "a b", "a/b", "..", "\xc3\xa9", "a\n"})
    EXPECT_FALSE(normal_name(text)) << text;
  EXPECT_TRUE(is_conda_name("_libgcc_mutex"));
  EXPECT_FALSE(is_conda_name("-x"));
  EXPECT_FALSE(is_conda_name("../x"));
}

TEST(WheelName, IsReadStrictly) {
  const auto wheel =
      try_wheel_name("Foo.Bar-1.0.post1-2b-cp311.cp312-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl");
  ASSERT_TRUE(wheel);
  EXPECT_EQ(wheel->name, "foo-bar");
  EXPECT_EQ(wheel->build, 2U);
  EXPECT_EQ(wheel->build_suffix, "b");
  EXPECT_EQ(wheel->pythons.size() + wheel->platforms.size(), 4U);
  for (const std::string_view text :
       {"foo-1.0.tar.gz", "foo-1.0-py3-none.whl", "foo-1.0-x-py3-none-any.whl", "foo-x-py3-none-any.whl",
        "-1.0-py3-none-any.whl", "../foo-1.0-py3-none-any.whl", "foo-1.0-py3--any.whl", "foo-1.0-py3-none-any/x.whl",
        "foo-1.0-1-1-py3-none-any.whl", "foo-1.0-py3..py2-none-any.whl", "foo-1.0 -py3-none-any.whl",
        "foo-1.0-py3-none-any.WHL"})
    EXPECT_FALSE(try_wheel_name(text)) << text;
  std::string many = "foo-1.0-";
  for (int i = 0; i < 30; ++i) many += "a.";
  EXPECT_FALSE(try_wheel_name(many + "a-" + "b.b.b.b.b.b.b.b.b-any.whl"));
}

}  // namespace
}  // namespace sabath
