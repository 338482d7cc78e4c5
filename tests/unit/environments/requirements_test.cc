#include "environments/requirements_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "environments/resolve.h"
#include "environments/user_indexes.h"
#include "refusal.h"

namespace sabath {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string sha256(64, 'a');

RequirementsFile requirements_of(const std::string& text, const std::map<std::string, std::string>& beside = {}) {
  RequirementsFile file;
  read_requirements(
      text, "r.txt", [&](const std::string& name) { return beside.at(name); }, file);
  return file;
}

std::vector<std::string> texts_of(const RequirementsFile& file) {
  std::vector<std::string> all;
  for (const RequirementLine& line : file.lines)
    all.push_back(line.requirement.text() + (line.requirement.marker.empty() ? "" : " ; " + line.requirement.marker));
  return all;
}

TEST(Requirements, AreRead) {
  const RequirementsFile file = requirements_of(
      "# comment\n\nNumPy >= 1.2, <2  # why\nrequests[socks, use_chardet]==2.0 ; python_version >= '3.8'\nx(>=1)\n"
      "a==1.0 \\\n    --hash=sha256:" +
      sha256 + " \\\n    --hash=sha256:" + std::string(64, 'B') +
      "\n    # via b\n"
      "w @ https://h/w-1.0-py3-none-any.whl#sha256=" +
      sha256 + "\nhttps://h/v-2-py3-none-any.whl ; os_name == 'posix'\n--require-hashes\r\n--only-binary :all:\n");
  EXPECT_THAT(file.refused, ElementsAre());
  EXPECT_THAT(texts_of(file), ElementsAre("numpy>=1.2,<2", "requests[socks,use-chardet]==2.0 ; python_version >= '3.8'",
                                          "x>=1", "a==1.0", "w @ https://h/w-1.0-py3-none-any.whl",
                                          "v @ https://h/v-2-py3-none-any.whl ; os_name == 'posix'"));
  EXPECT_THAT(file.lines[3].sha256, ElementsAre(sha256, std::string(64, 'b')));
  EXPECT_THAT(file.lines[4].sha256, ElementsAre(sha256));
  EXPECT_EQ(file.lines[3].place, "r.txt:6");
}

TEST(Requirements, RefuseWhatWouldRunCodeOrLeadElsewhere) {
  for (const auto& [line, why] : std::initializer_list<std::pair<std::string, std::string>>{
           {"-e .", "local project"},
           {"--editable=git+https://h/x", "local project"},
           {".", "local path"},
           {"./x.whl", "local path"},
           {"/tmp/x.whl", "local path"},
           {"~/x", "local path"},
           {"file:///tmp/x-1-py3-none-any.whl", "local path"},
           {"git+https://h/x", "repository"},
           {"x @ git+ssh://h/x", "repository"},
           {"x @ https://h/x.tar.gz", "no wheel"},
           {"https://h/x-1.zip", "no wheel"},
           {"x @ file:///x-1-py3-none-any.whl", "no web server"},
           {"x @ https://h/y-1-py3-none-any.whl", "no wheel of x"},
           {"x @ https://u:secret@h/x-1-py3-none-any.whl", "password"},
           {"--find-links /x", "place for packages"},
           {R"(x @ https://h/x-1-py3-none-any.whl?\)"
            "y",
            "characters"},
           {"-f https://h", "place for packages"},
           {"-fhttps://h", "place for packages"},
           {"--trusted-host h", "certificate"},
           {"--no-binary :all:", "sdists"},
           {"--pre", "pre-releases"},
           {"--no-index", "no index"},
           {"--unknown", "not known"},
           {"x --config-settings=a=b", "option of a build"},
           {"x==1 --global-option=--x", "option of a build"},
           {"x==${VERSION}", "variable"},
           {"--index-url ${INDEX}", "variable"},
           {"x y", "no version"},
           {"==1", "name"},
           {"x>=\x01", "characters"},
           {"x ; a b @ c", ""},
           {"-r ../other.txt", "outside"},
           {"-r /etc/passwd", "outside"},
           {"-c https://h/c.txt", "outside"},
           {"x==1 --hash=sha512:abcd", "other kinds"}}) {
    const RequirementsFile file = requirements_of(line);
    if (why.empty()) continue;  // its marker is refused where it is evaluated
    ASSERT_EQ(file.refused.size(), 1U) << line;
    EXPECT_THAT(file.refused[0], HasSubstr(why)) << line;
    EXPECT_THAT(file.refused[0], HasSubstr("r.txt:1: "));
    EXPECT_THAT(file.refused[0], testing::Not(HasSubstr("secret")));
  }
  EXPECT_THAT(refusal_of([] { (void)requirements_of("x==1 --hash=sha256:abc"); }), HasSubstr("is no digest"));
}

TEST(Requirements, IncludeFilesBesideThem) {
  const RequirementsFile file =
      requirements_of("-r a.txt\n-c limits/c.txt\nx",
                      {{"a.txt", "y\n-r r.txt\n"}, {"r.txt", "-r a.txt\nz"}, {"limits/c.txt", "y<2\n"}});
  EXPECT_THAT(texts_of(file), ElementsAre("y", "z", "y<2", "x"));
  EXPECT_TRUE(file.lines[2].is_constraint);
  EXPECT_EQ(file.lines[0].place, "a.txt:1");
  std::map<std::string, std::string> deep;
  for (int i = 0; i < 20; ++i) deep[fmt::format("f{}", i)] = fmt::format("-r f{}\n", i + 1);
  EXPECT_THAT(refusal_of([&] { (void)requirements_of("-r f0", deep); }), HasSubstr("files deep"));
  std::string many;
  for (int i = 0; i < 10'001; ++i) many += fmt::format("x{}\n", i);
  EXPECT_THAT(refusal_of([&] { (void)requirements_of(many); }), HasSubstr("more than 10000"));
}

TEST(Requirements, AskOnlyIndexesOfTheUser) {
  Environment environment;
  environment.variables = {{"PIP_EXTRA_INDEX_URL", "https://me:word@own/simple/ https://two/s"},
                           {"UV_INDEX", "name=https://three/s"}};
  const std::vector<std::string> named{"https://four/s"};
  const UserIndexes allowed(environment, named);
  for (const std::string_view url :
       {"https://pypi.org/simple/", "https://own/simple", "https://two/s", "https://three/s", "https://four/s/"})
    EXPECT_TRUE(allowed.allows(std::string(url))) << url;
  for (const std::string_view url :
       {"https://evil/simple", "https://own", "http://pypi.org/simple", "https://own/simple/x", ""})
    EXPECT_FALSE(allowed.allows(std::string(url))) << url;
  const RequirementsFile file = requirements_of(
      "--index-url https://own/simple\n--extra-index-url=https://evil/s?token=secret\n-i https://two/s");
  EXPECT_THAT(
      refused_indexes(file, allowed),
      ElementsAre("r.txt:2: --extra-index-url https://evil/s (an index that your own configuration does not name)"));
}

TEST(Requirements, AreAllLockedOrNone) {
  WheelTarget target;
  set_python(target, "3.11");
  set_platform(target, "x86_64");
  set_libc(target, "2.28", false);
  const std::string hash = " --hash=sha256:" + sha256;
  EXPECT_TRUE(question_of(requirements_of("x\ny ; sys_platform == 'win32'"), target).with_dependencies);
  EXPECT_EQ(question_of(requirements_of("x\ny ; sys_platform == 'win32'"), target).lines.size(), 1U);
  EXPECT_FALSE(question_of(requirements_of("x==1" + hash), target).with_dependencies);
  EXPECT_THAT(refusal_of([&] { (void)question_of(requirements_of("x==1" + hash + "\ny==2"), target); }),
              HasSubstr("r.txt:2: y has no digest"));
  EXPECT_THAT(refusal_of([&] { (void)question_of(requirements_of("x>=1" + hash), target); }), HasSubstr("no version"));
  EXPECT_THAT(refusal_of([&] { (void)question_of(requirements_of("x ; nonsense"), target); }),
              HasSubstr("r.txt:1: the marker"));
  EnvironmentLock lock;
  lock.packages.resize(1);
  lock.packages[0].name = "x";
  lock.packages[0].files = {{"a", "", {}, std::string(64, 'c'), ""}, {"b", "", {}, sha256, ""}};
  const auto lines = requirements_of("x==1" + hash).lines;
  keep_stated_digests(lock, lines);
  EXPECT_EQ(lock.packages[0].files.size(), 1U);
  lock.packages[0].files[0].sha256 = std::string(64, 'd');
  EXPECT_THAT(refusal_of([&] { keep_stated_digests(lock, lines); }, FailureKind::content),
              HasSubstr("has one of the 1 digests"));
}

}  // namespace
}  // namespace sabath
