#include "wheels/wheel_layout.h"

#include <gtest/gtest.h>

#include "sabath/error.h"
#include "wheels/place_claims.h"

namespace sabath {
namespace {

const WheelLayout layout{"flute 1.2", "python3.11", "flute-1.2", "flute"};

template <typename Function>
std::string why_not(Function function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::invalid);
    return error.what();
  }
  return "";
}

std::string place(const std::string& name) { return wheel_place(layout, name); }
std::string why_no_place(const std::string& name) {
  return why_not([&] { static_cast<void>(place(name)); });
}

TEST(WheelNames, ThatMeanAnotherPlaceAreRefused) {
  for (const std::string_view name : std::initializer_list<std::string_view>{
           "/etc/x", "../x", "a/../../x", "a/..", "a//b", "", "a\\b", "\\\\host\\x", "C:/x", "a/c:x", "a\nb", "./a",
           "a/.", "a\x7f", "\xff", std::string_view("a\0b", 3)})
    EXPECT_NE(why_not([&] { check_wheel_name("flute 1.2", name, true); }), "") << name;
  for (const std::string_view name : {"a", "a/b.py", "a/..b", "a b/c", "12:30.txt", "\xc3\xa9.py"})
    EXPECT_EQ(why_not([&] { check_wheel_name("flute 1.2", name, true); }), "") << name;
  EXPECT_NE(why_not([&] { check_wheel_name("flute 1.2", "\xc3\xa9.py", false); }), "");
}

TEST(WheelPlaces, AreThoseOfAnInstaller) {
  EXPECT_EQ(place("flute/note.py"), "lib/python3.11/site-packages/flute/note.py");
  EXPECT_EQ(place("flute-1.2.dist-info/METADATA"), "lib/python3.11/site-packages/flute-1.2.dist-info/METADATA");
  EXPECT_EQ(place("flute-1.2.data/purelib/a.py"), "lib/python3.11/site-packages/a.py");
  EXPECT_EQ(place("flute-1.2.data/platlib/a.so"), "lib/python3.11/site-packages/a.so");
  EXPECT_EQ(place("flute-1.2.data/scripts/flute"), "bin/flute");
  EXPECT_EQ(place("flute-1.2.data/headers/a/b.h"), "include/python3.11/flute/a/b.h");
  EXPECT_EQ(place("flute-1.2.data/data/share/man/flute.1"), "share/man/flute.1");
  EXPECT_EQ(place("flute-1.2.data/data/lib/python3.11/site-packages/x.py"), "lib/python3.11/site-packages/x.py");
  EXPECT_EQ(place("flute-1.2.data/data/lib/cmake/x.so.txt"), "lib/cmake/x.so.txt");
  EXPECT_EQ(place("flute.data/x"), "lib/python3.11/site-packages/flute.data/x");
}

TEST(WheelPlaces, OfTheInterpreterAndOfOthersAreRefused) {
  for (const std::string name :
       {"pyvenv.cfg", "environment.json", "bin/activate", "bin/python3", "bin/Python", "bin/pybuilddir.txt",
        "lib/python3.11/os.py", "lib/PYTHON3.11/os.py", "lib/python311.zip", "lib64/x.so", "lib/libm.so.6",
        "lib/LIBM.SO.6", "lib/libpython3.11.so", "libm.so", "bin/libm.so.6", "lib/glibc-hwcaps/x86-64-v2/libm.so.6",
        "lib/tls/libm.so.6", "lib/haswell/x/libm.so.6"})
    EXPECT_NE(why_no_place("flute-1.2.data/data/" + name), "") << name;
  for (const std::string name :
       {"flute-1.2.data/x", "flute-1.2.data", "flute-1.2.data/scripts", "flute-1.2.data/other/x",
        "flute-1.2.data/scripts/a/b", "drum-1.0.data/scripts/x", "drum-1.0.dist-info/RECORD", "x.egg-info",
        "x.egg-link", "flute-1.2.data/purelib/drum-1.0.dist-info/RECORD", "Flute-1.2.DIST-INFO/RECORD",
        "flute-1.2.data/data/lib/python3.11/site-packages/drum-1.0.dist-info/x"})
    EXPECT_NE(why_no_place(name), "") << name;
}

TEST(WheelNotes, BelongToTheWheelOfTheirName) {
  const auto wheel = *try_wheel_name("my_flute-1.2.0-py3-none-any.whl");
  EXPECT_EQ(info_stem("My.Flute-1.2.dist-info", wheel), "My.Flute-1.2");
  EXPECT_EQ(info_stem("my-flute-1.2.dist-info", wheel), "my-flute-1.2");
  for (const std::string_view folder : {"my_flute-1.3.dist-info", "flute-1.2.dist-info", "my_flute.dist-info",
                                        "my_flute-1.2.egg-info", "my_flute-1.2", ".dist-info", "my_flute-.dist-info"})
    EXPECT_FALSE(info_stem(folder, wheel)) << folder;
}

TEST(PlaceClaims, NoTwoBringOneFile) {
  PlaceClaims claims;
  const std::vector<std::string> own{"bin/python3", "share/E/x", "share/e/x"}, drum{"lib/drum/a.py", "bin/drum"};
  claims.claim_for_interpreter(own);
  claims.claim("drum 1.0", drum);
  EXPECT_EQ(claims.owner_of("bin/drum"), "drum 1.0");
  EXPECT_EQ(claims.owner_of("bin/python3"), "");
  const auto why = [&](std::vector<std::string> places) { return why_not([&] { claims.claim("bell 2.0", places); }); };
  EXPECT_EQ(why({"lib/drum/b.py"}), "");
  EXPECT_EQ(why({"bin/drum"}), "bell 2.0 and drum 1.0 both bring bin/drum");
  EXPECT_NE(why({"BIN/Drum"}), "");
  EXPECT_NE(why({"bin/python3"}).find("the interpreter"), std::string::npos);
  EXPECT_NE(why({"lib/drum"}), "");
  EXPECT_NE(why({"bin/drum/x"}), "");
  EXPECT_EQ(why({"a/b", "a/b/c"}), "bell 2.0 brings a/b as a file and as a folder");
}

}  // namespace
}  // namespace sabath
