// A job's directory by its descriptor: what is renamed above it, or put in its place, changes nothing.
#include "jobs/held_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>
#include <iterator>

#include "base/process.h"
#include "base/spawn.h"
#include "jobs/job_directory.h"
#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t other_user = 64001;

FailureKind kind_thrown(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.failure().kind;
  }
  return FailureKind::internal;
}

std::string text_of_file(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(HeldDirectory, StaysTheOneThatWasLookedAt) {
  const TempDir home;
  const HeldDirectory held = make_job_directory(home / "deep/job");
  const HeldDirectory inner = make_job_directory(held.path() / "fetch");
  fs::rename(home / "deep", home / "moved");
  fs::create_directories(home / "deep/job/fetch");
  held.write("job.sh", "mine");
  inner.write("job.sh", "mine, too");
  EXPECT_EQ(text_of_file(home / "moved/job/job.sh"), "mine");
  EXPECT_EQ(text_of_file(home / "moved/job/fetch/job.sh"), "mine, too");
  EXPECT_TRUE(fs::is_empty(home / "deep/job/fetch"));
  std::ofstream(home / "deep/job/job.sh") << "theirs";
  EXPECT_EQ(held.try_read("job.sh", 100), "mine");
  const CommandResult result =
      run_command({.argv = {"cat", "job.sh"}, .environment = {}, .directory = held.path()}, {});
  EXPECT_EQ(result.out, "mine") << "the scheduler's program is started in it";
  const auto [pid, error] = spawn_by_shell({.program = "/bin/true", .argv = {"true"}, .directory = held.path()});
  EXPECT_EQ(error, 0);
  EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
}

TEST(HeldDirectory, ReadsPlainFilesOfItsUserOnly) {
  const TempDir home;
  const HeldDirectory held(home.path());
  EXPECT_FALSE(held.try_read("none", 10));
  held.write("long", std::string(11, 'x'));
  EXPECT_EQ(kind_thrown([&] { static_cast<void>(held.try_read("long", 10)); }), FailureKind::invalid);
  fs::create_symlink("long", home / "link");
  ASSERT_EQ(::mkfifo((home / "fifo").c_str(), 0600), 0);
  held.write("open", "x", 0666);
  fs::permissions(home / "open", fs::perms(0666));
  for (const char* name : {"link", "fifo", "open"})
    EXPECT_EQ(kind_thrown([&] { static_cast<void>(held.try_read(name, 100)); }), FailureKind::access) << name;
}

TEST(HeldDirectory, IsBelowDirectoriesOfItsUserRootAndTrustedOwners) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives a directory away";
  const TempDir home;
  fs::create_directories(home / "theirs/mine");
  ASSERT_EQ(::chown((home / "theirs").c_str(), other_user, other_user), 0);
  EXPECT_EQ(kind_thrown([&] { make_job_directory(home / "theirs/mine/job"); }), FailureKind::access);
  const std::array<std::uint32_t, 1> trusted{other_user};
  EXPECT_NO_THROW(make_job_directory(home / "theirs/mine/job", trusted));
  EXPECT_EQ(kind_thrown([&] { static_cast<void>(try_read_submitted_job(home / "theirs/mine")); }),
            FailureKind::internal)
      << "there is none";
  write_submitted_job(home / "theirs/mine/job", {"a", "net", "slurm", {"7"}, "", {}, 1});
  EXPECT_EQ(kind_thrown([&] { static_cast<void>(try_read_submitted_job(home / "theirs/mine/job")); }),
            FailureKind::access);
  EXPECT_TRUE(try_read_submitted_job(home / "theirs/mine/job", trusted));
  fs::create_directories(home / "own/job");
  fs::create_directory_symlink(home / "own", home / "link");
  ASSERT_EQ(::lchown((home / "link").c_str(), other_user, other_user), 0);
  EXPECT_EQ(kind_thrown([&] { HeldDirectory held(home / "link/job"); }), FailureKind::access);
}

}  // namespace
}  // namespace sabath::test
