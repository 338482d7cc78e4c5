// Children in a directory of theirs, as glibc starts them and as the shell does where glibc is older than 2.29.
#include "base/spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/certificates.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
using Spawn = Spawned (*)(const ChildProcess&);

class SpawnTest : public testing::TestWithParam<Spawn> {
 protected:
  // The exit status, and what the child said.
  std::pair<int, std::string> run(ChildProcess child) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    child.out = ends[1];
    const Spawned spawned = GetParam()(child);
    ::close(ends[1]);
    std::string said(65536, '\0');
    std::size_t size = 0;
    for (ssize_t n = 0; (n = ::read(ends[0], said.data() + size, said.size() - size)) > 0;)
      size += static_cast<std::size_t>(n);
    ::close(ends[0]);
    said.resize(size);
    if (spawned.error != 0) return {-spawned.error, said};
    int status = 0;
    EXPECT_EQ(::waitpid(spawned.pid, &status, 0), spawned.pid);
    return {WEXITSTATUS(status), said};
  }

  test::TempDir ground_;
  fs::path directory_ = ground_.path() / "-a \"b\" $c\n";
  void SetUp() override { fs::create_directory(directory_); }
};

TEST_P(SpawnTest, RunsInTheDirectoryWithItsArguments) {
  const auto [status, said] =
      run({.program = "sh",
           .argv = {"sh", "-c", "pwd -P; printf '[%s]' \"$@\"; exit 7", "me", "a b", "", "-n", "$x"},
           .directory = directory_});
  EXPECT_EQ(status, 7);
  EXPECT_EQ(said, fs::canonical(directory_).native() + "\n[a b][][-n][$x]");
}

TEST_P(SpawnTest, FindsAProgramFromTheDirectory) {
  std::ofstream(directory_ / "here") << "#!/bin/sh\nprintf found\n";
  fs::permissions(directory_ / "here", fs::perms::owner_all);
  EXPECT_EQ(run({.program = "./here", .argv = {"./here"}, .directory = directory_}),
            std::pair(0, std::string("found")));
}

TEST_P(SpawnTest, GivesItsEnvironment) {
  const auto [status, said] = run({.program = "/bin/sh",
                                   .argv = {"sh", "-c", "printf %s \"$ONE\""},
                                   .environment = std::vector<std::string>{"ONE=1 2"},
                                   .directory = directory_});
  EXPECT_EQ(said, "1 2");
}

TEST_P(SpawnTest, SaysWhyThereIsNoChild) {
  std::ofstream(directory_ / "data") << "x";
  const auto error = [&](const fs::path& program, const fs::path& directory) {
    return -run({.program = program, .argv = {"p"}, .directory = directory}).first;
  };
  EXPECT_EQ(error("true", directory_ / "absent"), ENOENT);
  EXPECT_EQ(error("true", directory_ / "data"), ENOTDIR);
  EXPECT_EQ(error("no-such-program-of-sabath", directory_), ENOENT);
  EXPECT_EQ(error("./data", directory_), EACCES);
}

INSTANTIATE_TEST_SUITE_P(Ways, SpawnTest, testing::Values(spawn, spawn_by_shell),
                         [](const auto& way) { return way.index == 0 ? "Glibc" : "Shell"; });

TEST(Certificates, AreTheFirstBundleThatIsThere) {
  const test::TempDir ground;
  const std::string absent = ground.path() / "absent", empty = ground.path() / "empty", full = ground.path() / "full";
  std::ofstream{empty};
  std::ofstream(full) << "-----BEGIN CERTIFICATE-----\n";
  const std::array places{absent.c_str(), ground.path().c_str(), empty.c_str(), full.c_str()};
  EXPECT_EQ(system_ca_file(places), full);
  EXPECT_EQ(system_ca_file(std::span(places).first(3)), "");
  EXPECT_FALSE(ca_file_places().empty());
}

}  // namespace
}  // namespace sabath
