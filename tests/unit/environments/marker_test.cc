#include "environments/marker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "refusal.h"

namespace sabath {
namespace {

using testing::HasSubstr;

WheelTarget marker_target() {
  WheelTarget made;
  set_python(made, "3.11.7");
  set_platform(made, "x86_64");
  set_libc(made, "2.28", false);
  return made;
}

bool evaluated(std::string_view marker, const std::string& extra = {}, std::set<std::string> extras = {},
               std::set<std::string> groups = {}) {
  const WheelTarget of = marker_target();
  return holds(marker, {.target = &of, .extra = extra, .extras = std::move(extras), .groups = std::move(groups)}, "x");
}

TEST(Marker, HoldsByTheTargetsValues) {
  for (const auto& [marker, expected] : std::initializer_list<std::pair<std::string, bool>>{
           {"", true},
           {"python_version >= '3.9'", true},
           {"python_version < '3.9'", false},
           {"'3.9' <= python_version", true},
           {"python_full_version >= '3.11.4' and python_full_version < '3.12'", true},
           {"python_version in '3.10 3.11'", true},
           {"python_version not in '3.10 3.11'", false},
           {"python_version == '3.*'", true},
           {"python_version ~= '3.8'", true},
           {"sys_platform == 'linux'", true},
           {"sys_platform == 'win32' or platform_machine == \"x86_64\"", true},
           {"sys_platform == 'win32' and platform_machine == 'x86_64'", false},
           {"os_name != 'nt'", true},
           {"(sys_platform == 'darwin' or (os_name == 'posix')) and implementation_name == 'cpython'", true},
           {"platform_python_implementation != 'PyPy'", true},
           {"sys_platform == 'win32' or sys_platform == 'emscripten' and os_name == 'posix'", false},
           {"extra == 'test'", false},
           {"'linux' in sys_platform", true},
           {"platform_release >= '20'", false},
           {"sys.platform == 'linux'", true}})
    EXPECT_EQ(evaluated(marker), expected) << marker;
  EXPECT_TRUE(evaluated("extra == 'Fast_IO'", "fast-io"));
  EXPECT_TRUE(evaluated("'a' in extras and 'dev' not in dependency_groups", "", {"a"}));
  EXPECT_TRUE(evaluated("'dev' in dependency_groups", "", {}, {"dev"}));
}

TEST(Marker, IsRefusedWhereItIsNone) {
  for (const std::string_view marker :
       {"python_version", "python_version >=", "python_version 3", "x == '1'", "'a' == 'b", "(os_name == 'x'",
        "os_name == 'x')", "os_name == 'x' os_name", "not os_name", "os_name not 'x'", "extras == 'x'",
        "__import__('os')", "os_name ~= 'x'", "and", "os_name == 'x' or"})
    EXPECT_THAT(refusal_of([&] { (void)evaluated(marker); }), HasSubstr("x ")) << marker;
  EXPECT_THAT(refusal_of([] { (void)evaluated(std::string(5000, '(')); }), HasSubstr("too deep"));
  EXPECT_THAT(refusal_of([] { (void)evaluated(std::string(9000, ' ') + "x"); }), HasSubstr("longer"));
}

}  // namespace
}  // namespace sabath
