#include "environments/readers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "environments/choose.h"
#include "environments/environment_file.h"
#include "environments/lock_text.h"
#include "refusal.h"

namespace sabath {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string digest(64, 'a'), md5(32, 'b');

WheelTarget here() {
  WheelTarget made;
  set_python(made, "3.11");
  set_platform(made, "x86_64");
  set_libc(made, "2.28", false);
  return made;
}

std::vector<std::string> names_of(const EnvironmentLock& lock) {
  std::vector<std::string> names;
  for (const LockedPackage& package : lock.packages) names.push_back(package.name + " " + package.version);
  return names;
}

std::string pylock(const std::string& rest) { return "lock-version = \"1.0\"\ncreated-by = \"t\"\n" + rest; }
std::string why_not_pylock(const std::string& rest) {
  return refusal_of([&] { (void)read_pylock(pylock(rest), "pylock.toml"); });
}

TEST(Pylock, IsRead) {
  const EnvironmentLock lock = read_pylock(
      pylock(fmt::format(
          "requires-python = '>=3.9'\ndefault-groups = ['dev']\n"
          "[[packages]]\nname = 'A_b'\nversion = '1.0'\nmarker = \"sys_platform == 'linux'\"\n"
          "wheels = [{{ url = 'https://h/a_b-1.0-py3-none-any.whl', size = 5, upload-time = 2026-10-22T00:02:38Z, "
          "hashes = {{ sha256 = '{0}' }} }}]\n"
          "[[packages]]\nname = 'c'\nversion = '2'\nsdist = {{ url = 'https://h/c-2.tar.gz', hashes = {{ sha256 = "
          "'{0}' }} }}\n"
          "[[packages]]\nname = 'd'\narchive = {{ url = 'https://h/d-3-py3-none-any.whl#x', hashes = {{ sha256 = "
          "'{0}', md5 = '{1}' }} }}\n"
          "[[packages]]\nname = 'e'\nversion = '1'\nvcs = {{ type = 'git', url = 'https://h/e', commit-id = 'f' }}\n"
          "[[packages]]\nname = 'f'\ndirectory = {{ path = '.' }}\n"
          "[[packages]]\nname = 'g'\nversion = '1'\nwheels = [{{ path = 'g-1-py3-none-any.whl', hashes = {{ sha256 = "
          "'{0}' }} }}]\n",
          digest, md5)),
      "pylock.toml");
  EXPECT_THAT(names_of(lock), ElementsAre("a-b 1.0", "c 2", "d ", "e 1", "f ", "g 1"));
  EXPECT_EQ(lock.packages[0].files[0].size_bytes, 5U);
  EXPECT_EQ(lock.packages[2].files[0].url, "https://h/d-3-py3-none-any.whl");
  EXPECT_EQ(lock.packages[2].files[0].md5, md5);
  for (const std::size_t i : {1U, 3U, 4U, 5U}) EXPECT_FALSE(lock.packages[i].instead.empty()) << i;
  EXPECT_TRUE(lock.default_groups.contains("dev"));
  EXPECT_TRUE(read_pylock(pylock(""), "p").packages.empty()) << "uv leaves them out where there are none";
}

TEST(Pylock, IsRefusedWhereItIsMalformed) {
  const std::string package = "[[packages]]\nname = 'a'\nversion = '1'\n";
  EXPECT_THAT(refusal_of([] { (void)read_pylock("lock-version = '2.0'", "p"); }), HasSubstr("1.0 is read"));
  EXPECT_THAT(refusal_of([] { (void)read_pylock("", "p"); }), HasSubstr("lock-version"));
  EXPECT_THAT(why_not_pylock("[[packages]]\nname = '../a'"), HasSubstr("is no package's name"));
  EXPECT_THAT(why_not_pylock("[[packages]]\nname = 'a'\nversion = 'x'"), HasSubstr("is no version"));
  EXPECT_THAT(why_not_pylock("packages = 5"), HasSubstr("packages"));
  EXPECT_THAT(why_not_pylock("packages = [5]"), HasSubstr("pylock.toml:3"));
  for (const auto& [url, why] : std::initializer_list<std::pair<std::string, std::string>>{
           {"file:///etc/passwd", "no URL of a web server"},
           {"https://user:secret@h/a-1-py3-none-any.whl", "password"},
           {"ftp://h/a-1-py3-none-any.whl", "no URL of a web server"},
           {"https://h/", "names no file"},
           {"https://h/..%2f..%2fa-1-py3-none-any.whl", "names no file"},
           {"nonsense", "is no URL"}}) {
    const std::string said = why_not_pylock(
        fmt::format("{}wheels = [{{ url = '{}', hashes = {{ sha256 = '{}' }} }}]", package, url, digest));
    EXPECT_THAT(said, HasSubstr(why)) << url;
    EXPECT_THAT(said, testing::Not(HasSubstr("secret")));
  }
  EXPECT_THAT(
      why_not_pylock(package + "wheels = [{ url = 'https://h/a-1-py3-none-any.whl', hashes = { sha256 = 'abc' } }]"),
      HasSubstr("is no digest"));
  EXPECT_THAT(why_not_pylock(package + "wheels = [{ hashes = { sha256 = 'abc' } }]"), HasSubstr("url"));
  std::string many;
  for (int i = 0; i < 10'001; ++i) many += fmt::format("[[packages]]\nname = 'a{}'\n", i);
  EXPECT_THAT(why_not_pylock(many), HasSubstr("more than 10000 packages"));
}

std::string uv_package(const std::string& name, const std::string& rest, const std::string& version = "1.0",
                       const std::string& source = "registry = 'https://h/simple'") {
  return fmt::format(
      "[[package]]\nname = '{0}'\nversion = '{1}'\nsource = {{ {2} }}\n{3}"
      "wheels = [{{ url = 'https://h/{0}-{1}-py3-none-any.whl', hash = 'sha256:{4}', size = 3 }}]\n",
      name, version, source, rest, digest);
}
EnvironmentLock uv_lock(const std::string& rest) {
  return read_uv_lock("version = 1\nrequires-python = '>=3.9'\n" + rest, "uv.lock", here());
}

TEST(UvLock, IsWalkedFromTheProject) {
  const std::string project =
      "[[package]]\nname = 'p'\nversion = '0'\nsource = { virtual = '.' }\ndependencies = [\n { name = 'a' },\n"
      " { name = 'w', marker = \"sys_platform == 'win32'\" },\n { name = 'b', extra = ['fast'] },\n"
      " { name = 'f', version = '2.0', source = { registry = 'https://h/simple' }, marker = \"python_version >= "
      "'3.11'\" },\n"
      " { name = 'f', version = '1.0', source = { registry = 'https://h/simple' }, marker = \"python_version < "
      "'3.11'\" },\n]\n"
      "[package.optional-dependencies]\ndocs = [{ name = 'z' }]\n[package.dev-dependencies]\ndev = [{ name = 'y' }]\n";
  const EnvironmentLock lock =
      uv_lock(project + uv_package("a", "dependencies = [{ name = 'c' }]\n") + uv_package("w", "") +
              uv_package("b", "", "1.0") +
              "[package.optional-dependencies]\nfast = [{ name = 'd' }]\nslow = [{ name = 'w' }]\n" +
              uv_package("c", "dependencies = [{ name = 'a' }]\n") + uv_package("d", "") + uv_package("f", "", "1.0") +
              uv_package("f", "", "2.0") + uv_package("y", "") + uv_package("z", ""));
  EXPECT_THAT(names_of(lock), testing::UnorderedElementsAre("a 1.0", "b 1.0", "c 1.0", "d 1.0", "f 2.0"));
  EXPECT_THAT(lock.remarks, ElementsAre(HasSubstr("the project p itself is not locked")));
}

TEST(UvLock, NamesWhatIsNoWheel) {
  const std::string project =
      "[[package]]\nname = 'p'\nversion = '0'\nsource = { editable = '.' }\ndependencies = [{ name = 'a' }]\n";
  for (const auto& [source, instead] : std::initializer_list<std::pair<std::string, std::string>>{
           {"git = 'https://h/a?rev=x#y'", "repository"},
           {"path = '../a.whl'", "local path"},
           {"directory = '../a'", "local path"},
           {"url = 'https://h/a.tar.gz'", "archive"},
           {"registry = '../wheels'", "machine where it was locked"}})
    EXPECT_THAT(uv_lock(project + fmt::format("[[package]]\nname = 'a'\nversion = '1'\nsource = {{ {} }}\n", source))
                    .packages[0]
                    .instead,
                HasSubstr(instead));
  EXPECT_THAT(refusal_of([&] { (void)uv_lock(project); }), HasSubstr("a has no entry in the lock"));
  EXPECT_THAT(refusal_of([&] { (void)uv_lock(project + uv_package("a", "") + uv_package("a", "", "2.0")); }),
              HasSubstr("2 of the lock's packages are a"));
  EXPECT_THAT(refusal_of([] { (void)read_uv_lock("version = 7", "uv.lock", here()); }), HasSubstr("is not 1"));
  EXPECT_THAT(refusal_of([&] { (void)uv_lock("[[package]]\nname = 'a'\nversion = '1'\n"); }), HasSubstr("source"));
}

TEST(CondaExplicit, IsRead) {
  const EnvironmentLock lock = read_conda_explicit(
      fmt::format("# platform: linux-64\n@EXPLICIT\nhttps://c/conda-forge/linux-64/numpy-2.1.0-py311h_0.conda#{}\n"
                  "https://c/conda-forge/noarch/tz-data-2026a-h_1.tar.bz2#sha256:{}\n\nhttps://c/conda-forge/linux-64/"
                  "_x_y-1-0.conda#{}\n",
                  md5, digest, digest),
      "explicit.txt");
  EXPECT_THAT(names_of(lock), ElementsAre("numpy 2.1.0", "tz-data 2026a", "_x_y 1"));
  EXPECT_EQ(lock.packages[0].files[0].md5, md5);
  EXPECT_EQ(lock.packages[1].platform, "noarch");
  const auto packages = choose_packages(std::span(&lock, 1), here());
  const EnvironmentLock again = read_conda_lock(conda_lock_text(packages, {}, here()), "conda-lock.yml");
  EXPECT_EQ(conda_lock_text(choose_packages(std::span(&again, 1), here()), {}, here()),
            conda_lock_text(packages, {}, here()));
}

TEST(CondaExplicit, IsRefusedWhereItIsMalformed) {
  const std::string front = "https://c/linux-64/";
  for (const auto& [text, why] : std::initializer_list<std::pair<std::string, std::string>>{
           {"", "no line @EXPLICIT"},
           {"https://c/linux-64/a-1-0.conda\n@EXPLICIT", "comes before"},
           {"@EXPLICIT\n" + front + "a-1-0.conda#" + md5 + "\n" + front + "a-2-0.conda#" + md5,
            "appears twice, first in e.txt:2"},
           {"@EXPLICIT\n" + front + "a-1.conda", "NAME-VERSION-BUILD"},
           {"@EXPLICIT\n" + front + "a-1-0.zip", "no package of conda"},
           {"@EXPLICIT\n" + front + "a-1-0.conda#xyz", "hexadecimal"},
           {"@EXPLICIT\nhttps://c/a-1-0.conda", "folder of a platform"},
           {"@EXPLICIT\nfile:///linux-64/a-1-0.conda", "web server"},
           {"@EXPLICIT\n/linux-64/a-1-0.conda", "no URL"},
           {"@EXPLICIT\n" + front + "$(x)-1-0.conda", "NAME-VERSION-BUILD"}})
    EXPECT_THAT(refusal_of([&, &text = text] { (void)read_conda_explicit(text, "e.txt"); }), HasSubstr(why)) << text;
  const EnvironmentLock lock = read_conda_explicit("@EXPLICIT\n" + front + "a-1-0.conda\n", "e.txt");
  EXPECT_THAT(refusal_of([&] { (void)choose_packages(std::span(&lock, 1), here()); }, FailureKind::not_found),
              HasSubstr("has no digest"));
}

std::string conda_lock(const std::string& packages) {
  return "version: 1\nmetadata:\n  channels:\n  - url: conda-forge\n    used_env_vars: []\npackage:\n" + packages;
}

TEST(CondaLock, IsRead) {
  const EnvironmentLock lock = read_conda_lock(
      conda_lock(fmt::format(
          "- name: __glibc\n  version: '2.17'\n  manager: conda\n  platform: linux-64\n  url: file:///x\n  hash: {{}}\n"
          "- name: numpy\n  version: 2.1.0\n  manager: conda\n  platform: linux-64\n  dependencies:\n    python: "
          "'>=3.11'\n"
          "  url: https://c/linux-64/numpy-2.1.0-h_0.conda\n  hash:\n    md5: {1}\n    sha256: {0}\n  category: main\n "
          " optional: false\n"
          "- name: numpy\n  version: 2.1.0\n  manager: conda\n  platform: osx-64\n  url: "
          "https://c/osx-64/numpy-2.1.0-h_0.conda\n  hash: {{md5: {1}}}\n"
          "- name: six\n  version: 1.0\n  manager: pip\n  platform: linux-64\n  url: "
          "https://h/six-1.0-py3-none-any.whl\n  hash: {{sha256: {0}}}\n",
          digest, md5)),
      "conda-lock.yml");
  EXPECT_THAT(names_of(lock), ElementsAre("numpy 2.1.0", "numpy 2.1.0", "six 1.0"));
  EXPECT_THAT(lock.channels, ElementsAre("conda-forge"));
  const auto packages = choose_packages(std::span(&lock, 1), here());
  ASSERT_EQ(packages.size(), 2U);
  EXPECT_EQ(packages[0].file.url + packages[1].file.url,
            "https://h/six-1.0-py3-none-any.whlhttps://c/linux-64/numpy-2.1.0-h_0.conda");
}

TEST(CondaLock, IsRefusedWhereItIsMalformed) {
  const std::string one =
      "- name: a\n  version: 1\n  manager: conda\n  platform: linux-64\n  url: https://c/linux-64/a-1-0.conda\n";
  for (const auto& [text, why] : std::initializer_list<std::pair<std::string, std::string>>{
           {"version: 2\npackage: []", "is not 1"},
           {"version: 1", "package"},
           {conda_lock(one + one), "appears twice"},
           {conda_lock("- name: b\n  version: 1\n  manager: conda\n  platform: linux-64\n  url: "
                       "https://c/linux-64/a-1-0.conda\n"),
            "is not of b 1"},
           {conda_lock("- name: a\n  version: 1\n  manager: conda\n  platform: linux-64\n  url: "
                       "https://c/osx-64/a-1-0.conda\n"),
            "platform linux-64"},
           {conda_lock("- name: a\n  version: 1\n  manager: npm\n  platform: linux-64\n  url: "
                       "https://c/linux-64/a-1-0.conda\n"),
            "conda or pip"},
           {"a: &x [1]\nb: *x", "anchors"},
           {"a: !!python/object x", "tags"},
           {"a: 1\na: 2", "appears twice"},
           {"--- 1\n--- 2", "second document"},
           {std::string(1000, '['), "nested deeper"},
           {"", "empty"},
           {"a: [1", "is no YAML"}})
    EXPECT_THAT(refusal_of([&, &text = text] { (void)read_conda_lock(text, "l.yml"); }), HasSubstr(why))
        << text.substr(0, 80);
}

TEST(EnvironmentFile, IsRead) {
  const CondaEnvironment read = read_environment_yml(
      "name: x\nchannels: [conda-forge, https://c/own]\ndependencies:\n- python=3.11\n- conda-forge::numpy>=1.2,<3\n- "
      "blas=*=openblas\nvariables: {A: b}\n",
      "e.yml");
  EXPECT_THAT(read.specs, ElementsAre("python=3.11", "conda-forge::numpy>=1.2,<3", "blas=*=openblas"));
  EXPECT_THAT(read.channels, ElementsAre("conda-forge", "https://c/own"));
  EXPECT_THAT(read.remarks, ElementsAre(HasSubstr("variables")));
  for (const auto& [text, why] : std::initializer_list<std::pair<std::string, std::string>>{
           {"name: x", "dependencies"},
           {"dependencies: [--file=/etc/passwd]", "no package of conda"},
           {"dependencies: ['a; rm']", "no package of conda"},
           {"dependencies: [/tmp/a.conda]", "no package of conda"},
           {"dependencies: [tmp/a-1-0.conda]", "no package of conda"},
           {"dependencies: [a-1-0.tar.bz2]", "no package of conda"},
           {"dependencies: [tmp/x]", "no package of conda"},
           {"dependencies:\n- pip:\n  - x", "has packages of pip"},
           {"channels: [file:///x]\ndependencies: [a]", "no channel"},
           {"channels: [--x]\ndependencies: [a]", "no channel"},
           {"channels: ['https://u:p@h/x']\ndependencies: [a]", "no channel"},
           {"dependancies: [a]", "dependencies"}})
    EXPECT_THAT(refusal_of([&, &text = text] { (void)read_environment_yml(text, "e.yml"); }), HasSubstr(why)) << text;
}

TEST(FormatOfFile, IsFound) {
  EXPECT_EQ(format_of_file("pylock.toml", "lock-version = '1.0'"), EnvironmentFormat::pylock);
  EXPECT_EQ(format_of_file("uv.lock", "version = 1"), EnvironmentFormat::uv_lock);
  EXPECT_EQ(format_of_file("conda-lock.yml", "version: 1\npackage:\n"), EnvironmentFormat::conda_lock);
  EXPECT_EQ(format_of_file("environment.yml", "dependencies:\n"), EnvironmentFormat::environment_yml);
  EXPECT_EQ(format_of_file("x.txt", "# a\n@EXPLICIT\n"), EnvironmentFormat::conda_explicit);
  EXPECT_EQ(format_of_file("requirements.in", "numpy\n"), EnvironmentFormat::requirements);
  for (const auto& [name, text] :
       std::initializer_list<std::pair<std::string, std::string>>{{"pyproject.toml", ""},
                                                                  {"poetry.lock", ""},
                                                                  {"x.toml", "a = 1"},
                                                                  {"a.whl", ""},
                                                                  {"x", std::string(1, '\0')},
                                                                  {"p.json", "{}"}})
    (void)refusal_of([&, &name = name, &text = text] { (void)format_of_file(name, text); });
}

}  // namespace
}  // namespace sabath
