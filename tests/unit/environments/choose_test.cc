#include "environments/choose.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "environments/lock_text.h"
#include "environments/readers.h"
#include "refusal.h"

namespace sabath {
namespace {

using testing::HasSubstr;

WheelTarget target(std::string_view python, std::string_view platform, std::string_view libc, bool is_musl = false) {
  WheelTarget made;
  set_python(made, python);
  set_platform(made, platform);
  set_libc(made, libc, is_musl);
  return made;
}

LockedPackage package(std::initializer_list<std::string_view> tags) {
  LockedPackage made;
  made.name = "x";
  made.version = "1.0";
  made.place = "a:1";
  for (const std::string_view tag : tags)
    made.files.push_back({fmt::format("x-1.0-{}.whl", tag), fmt::format("https://a/x-1.0-{}.whl", tag), std::nullopt,
                          std::string(64, 'a'), ""});
  return made;
}

std::string chosen(LockedPackage package, const WheelTarget& of) {
  EnvironmentLock lock;
  lock.packages.push_back(std::move(package));
  std::string name = choose_packages(std::span(&lock, 1), of).at(0).file.name;
  return name.substr(6, name.size() - 10);
}

struct ChoiceCase {
  std::string_view python, platform, libc;
  std::initializer_list<std::string_view> wheels;
  std::string_view expected;  // "": none
};

TEST(Choice, IsTheTargetsBestWheel) {
  const std::initializer_list<ChoiceCase> cases{
      {"3.11", "x86_64", "2.28", {"py3-none-any"}, "py3-none-any"},
      {"3.11",
       "x86_64",
       "2.28",
       {"py3-none-any", "cp311-cp311-manylinux_2_17_x86_64"},
       "cp311-cp311-manylinux_2_17_x86_64"},
      {"3.11",
       "x86_64",
       "2.28",
       {"cp311-cp311-manylinux_2_17_x86_64", "cp311-cp311-manylinux_2_28_x86_64"},
       "cp311-cp311-manylinux_2_28_x86_64"},
      {"3.11",
       "x86_64",
       "2.17",
       {"cp311-cp311-manylinux_2_17_x86_64", "cp311-cp311-manylinux_2_28_x86_64"},
       "cp311-cp311-manylinux_2_17_x86_64"},
      {"3.11", "x86_64", "2.17", {"cp311-cp311-manylinux_2_28_x86_64"}, ""},
      {"3.11", "x86_64", "2.17", {"cp311-cp311-manylinux2014_x86_64"}, "cp311-cp311-manylinux2014_x86_64"},
      {"3.11", "x86_64", "2.12", {"cp311-cp311-manylinux2014_x86_64"}, ""},
      {"3.11", "x86_64", "2.12", {"cp311-cp311-manylinux2010_x86_64"}, "cp311-cp311-manylinux2010_x86_64"},
      {"3.11",
       "x86_64",
       "2.36",
       {"cp311-cp311-manylinux1_x86_64.manylinux_2_28_x86_64"},
       "cp311-cp311-manylinux1_x86_64.manylinux_2_28_x86_64"},
      {"3.11", "x86_64", "2.36", {"cp312-cp312-manylinux_2_17_x86_64"}, ""},
      {"3.11",
       "x86_64",
       "2.36",
       {"cp38-abi3-manylinux_2_17_x86_64", "py3-none-any"},
       "cp38-abi3-manylinux_2_17_x86_64"},
      {"3.11", "x86_64", "2.36", {"cp312-abi3-manylinux_2_17_x86_64"}, ""},
      {"3.11",
       "x86_64",
       "2.36",
       {"cp38-abi3-manylinux_2_17_x86_64", "cp310-abi3-manylinux_2_17_x86_64"},
       "cp310-abi3-manylinux_2_17_x86_64"},
      {"3.11", "x86_64", "2.36", {"cp310-cp310-manylinux_2_17_x86_64"}, ""},
      {"3.11",
       "x86_64",
       "2.36",
       {"cp311-none-manylinux_2_17_x86_64", "cp311-abi3-manylinux_2_17_x86_64"},
       "cp311-abi3-manylinux_2_17_x86_64"},
      {"3.11", "x86_64", "2.36", {"cp311-cp311-win_amd64", "cp311-cp311-macosx_11_0_arm64"}, ""},
      {"3.11", "x86_64", "2.36", {"cp311-cp311-musllinux_1_2_x86_64"}, ""},
      {"3.11",
       "x86_64",
       "musl",
       {"cp311-cp311-musllinux_1_2_x86_64", "cp311-cp311-manylinux_2_17_x86_64"},
       "cp311-cp311-musllinux_1_2_x86_64"},
      {"3.11",
       "aarch64",
       "2.36",
       {"cp311-cp311-manylinux_2_17_x86_64", "cp311-cp311-manylinux_2_17_aarch64"},
       "cp311-cp311-manylinux_2_17_aarch64"},
      {"3.11", "linux-aarch64", "2.36", {"cp311-cp311-manylinux1_aarch64"}, ""},
      {"3.11", "ppc64le", "2.36", {"py3-none-any", "py3-none-linux_ppc64le"}, "py3-none-linux_ppc64le"},
      {"3.11",
       "x86_64",
       "2.36",
       {"cp311-cp311-linux_x86_64", "cp311-cp311-manylinux_2_5_x86_64"},
       "cp311-cp311-manylinux_2_5_x86_64"},
      {"3.13t",
       "x86_64",
       "2.36",
       {"cp313-cp313-manylinux_2_17_x86_64", "cp313-cp313t-manylinux_2_17_x86_64"},
       "cp313-cp313t-manylinux_2_17_x86_64"},
      {"3.13t", "x86_64", "2.36", {"cp38-abi3-manylinux_2_17_x86_64"}, ""},
      {"3.13", "x86_64", "2.36", {"cp313-cp313t-manylinux_2_17_x86_64"}, ""},
      {"3.11", "x86_64", "2.36", {"py2-none-any", "py2.py3-none-any"}, "py2.py3-none-any"},
      {"3.11", "x86_64", "2.36", {"py2-none-any"}, ""},
      {"3.11", "x86_64", "2.36", {"py311-none-any", "py3-none-any", "py38-none-any"}, "py311-none-any"},
      {"3.11", "x86_64", "2.36", {"py312-none-any"}, ""},
      {"3.7",
       "x86_64",
       "2.36",
       {"cp37-cp37m-manylinux1_x86_64", "cp37-cp37-manylinux1_x86_64"},
       "cp37-cp37m-manylinux1_x86_64"},
      {"3.11", "x86_64", "2.36", {"1-py3-none-any", "10-py3-none-any", "2-py3-none-any"}, "10-py3-none-any"},
  };
  for (const ChoiceCase& one : cases) {
    const bool is_musl = one.libc == "musl";
    const WheelTarget of = target(one.python, one.platform, is_musl ? "1.2" : one.libc, is_musl);
    if (one.expected.empty())
      (void)refusal_of([&] { (void)chosen(package(one.wheels), of); }, FailureKind::not_found);
    else
      EXPECT_EQ(chosen(package(one.wheels), of), one.expected);
  }
}

TEST(Choice, SaysWhatIsAgainstIt) {
  const WheelTarget of = target("3.11", "x86_64", "2.17");
  const auto why = [&](const LockedPackage& one) {
    return refusal_of([&] { (void)chosen(one, of); }, FailureKind::not_found);
  };
  EXPECT_EQ(why(package({"cp311-cp311-manylinux_2_28_x86_64", "cp311-cp311-manylinux_2_34_x86_64"})),
            "a:1: x 1.0 needs glibc 2.28 or newer, the target has 2.17");
  EXPECT_THAT(why(package({"cp312-cp312-manylinux_2_17_x86_64"})),
              HasSubstr("none of 1 wheels is for Python 3.11 on x86_64 with glibc 2.17"));
  LockedPackage one = package({});
  one.instead = "an sdist, whose build would run code";
  EXPECT_EQ(why(one), "a:1: x 1.0 is an sdist, whose build would run code");
  one = package({"py3-none-any"});
  one.requires_python = ">=3.12";
  EXPECT_EQ(why(one), "a:1: x 1.0 is for Python >=3.12, not for 3.11.0");
  one = package({"py3-none-any"});
  one.files[0].sha256.clear();
  EXPECT_THAT(why(one), HasSubstr("has no sha256"));
}

TEST(Choice, RefusesContradictions) {
  const WheelTarget of = target("3.11", "x86_64", "2.28");
  EnvironmentLock lock;
  lock.packages = {package({"py3-none-any"}), package({"py3-none-any"})};
  EXPECT_EQ(choose_packages(std::span(&lock, 1), of).size(), 1U) << "the same twice is one";
  lock.packages[1].files[0].sha256 = std::string(64, 'b');
  EXPECT_THAT(refusal_of([&] { (void)choose_packages(std::span(&lock, 1), of); }), HasSubstr("contradicts"));
  lock.packages[1].marker = "sys_platform == 'win32'";
  EXPECT_EQ(choose_packages(std::span(&lock, 1), of).size(), 1U);
  lock.packages = {package({"py3-none-any", "py3-none-any"})};
  lock.packages[0].files[1].sha256 = std::string(64, 'b');
  EXPECT_THAT(refusal_of([&] { (void)choose_packages(std::span(&lock, 1), of); }), HasSubstr("there twice"));
  lock.packages = {package({"py3-none-any"})};
  lock.packages[0].name = "y";
  EXPECT_THAT(refusal_of([&] { (void)choose_packages(std::span(&lock, 1), of); }), HasSubstr("is no wheel of y 1.0"));
  lock.packages[0] = package({"py3-none-any"});
  lock.packages[0].version = "2.0";
  EXPECT_THAT(refusal_of([&] { (void)choose_packages(std::span(&lock, 1), of); }), HasSubstr("is no wheel of x 2.0"));
}

TEST(LockText, IsReadBackAndTheSame) {
  const WheelTarget of = target("3.11.4", "x86_64", "2.28");
  EnvironmentLock lock;
  lock.packages = {package({"cp311-cp311-manylinux_2_17_x86_64", "py3-none-any"})};
  lock.packages[0].files[0].size_bytes = 7;
  const auto packages = choose_packages(std::span(&lock, 1), of);
  const std::string text = pylock_text(packages, of);
  EXPECT_TRUE(is_own_lock(text));
  const EnvironmentLock read = read_pylock(text, "pylock.toml");
  EXPECT_EQ(pylock_text(choose_packages(std::span(&read, 1), of), of), text);
  EXPECT_THAT(refusal_of([&] { (void)choose_packages(std::span(&read, 1), target("3.12", "x86_64", "2.28")); },
                         FailureKind::not_found),
              HasSubstr("pylock.toml is locked for Python ==3.11.*, not for 3.12.0"));
  EXPECT_THAT(refusal_of([&] { (void)choose_packages(std::span(&read, 1), target("3.11", "aarch64", "2.28")); },
                         FailureKind::not_found),
              HasSubstr("locked for other targets"));
}

TEST(Target, IsParsedStrictly) {
  WheelTarget of;
  for (const std::string_view text :
       {"", "3", "2.7", "3.5", "3.x", "3.11.7.1", "3.100", "3.12t", "3.11.9999", "../python"})
    (void)refusal_of([&] { set_python(of, text); }, FailureKind::usage);
  for (const std::string_view text : {"", "win_amd64", "osx-64", "../x", "x86"})
    (void)refusal_of([&] { set_platform(of, text); }, FailureKind::usage);
  for (const std::string_view text : {"", "2", "1.2", "2.x", "2.28.1", "2.100"})
    (void)refusal_of([&] { set_libc(of, text, false); }, FailureKind::usage);
  set_platform(of, "linux-64");
  EXPECT_EQ(conda_platform(of), "linux-64");
}

}  // namespace
}  // namespace sabath
