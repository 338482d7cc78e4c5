#include "jobs/job_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t other_user_id = 64001;

FailureKind kind_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.failure().kind;
  }
  return FailureKind::internal;
}

class JobDirectories : public ::testing::Test {
 protected:
  fs::path add(const std::string& name, std::int64_t submitted) {
    const fs::path directory = here / name;
    make_job_directory(directory);
    write_submitted_job(directory, {name, "net", "slurm", {"7"}, "", {}, submitted});
    return directory;
  }
  void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] std::string newest() {
    unread.clear();
    return newest_job_in(here, "net", unread).value_or("none").filename().string();
  }
  void give_away(const fs::path& place) { ASSERT_EQ(::lchown(place.c_str(), other_user_id, other_user_id), 0); }
  TempDir temporary;
  fs::path here = temporary.path();
  std::vector<fs::path> unread;
};

TEST_F(JobDirectories, AreFoundBesideDamagedOnes) {
  add("job_net_a", 1);
  add("job_net_b", 2);
  EXPECT_EQ(newest(), "job_net_b");
  write(here / "job_net_c/job.json", "{");
  write(here / "job_net_d/other", "");
  fs::create_directory(here / "job_net_e");
  ASSERT_EQ(::mkfifo((here / "job_net_e/job.json").c_str(), 0600), 0);
  fs::create_directory(here / "job_net_f");
  fs::create_symlink("/dev/zero", here / "job_net_f/job.json");
  fs::create_directory_symlink(here / "job_net_a", here / "job_net_g");
  EXPECT_EQ(newest(), "job_net_b");
  EXPECT_EQ(unread, std::vector<fs::path>{here / "job_net_c"});
}

TEST_F(JobDirectories, OfOthersAreNotBelieved) {
  const fs::path mine = add("job_net_a", 1), theirs = add("job_net_b", INT64_MAX);
  fs::permissions(theirs, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(newest(), "job_net_a");
  EXPECT_EQ(kind_of([&] { static_cast<void>(try_read_submitted_job(theirs)); }), FailureKind::access);
  fs::permissions(theirs, fs::perms::others_write, fs::perm_options::remove);
  EXPECT_EQ(newest(), "job_net_b");
  fs::permissions(theirs / "job.json", fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(newest(), "job_net_a");
  EXPECT_EQ(kind_of([&] { static_cast<void>(try_read_submitted_job(theirs)); }), FailureKind::access);
  EXPECT_TRUE(try_read_submitted_job(mine));
}

TEST_F(JobDirectories, OfOtherUsersAreNotBelieved) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives a file away";
  add("job_net_a", 1);
  const fs::path theirs = add("job_net_b", 2);
  give_away(theirs);
  EXPECT_EQ(newest(), "job_net_a");
  EXPECT_EQ(kind_of([&] { static_cast<void>(try_read_submitted_job(theirs)); }), FailureKind::access);
  fs::create_directory(here / "empty");
  EXPECT_NO_THROW(make_job_directory(here / "empty"));
  fs::create_directory_symlink(here / "empty", here / "link");
  EXPECT_NO_THROW(make_job_directory(here / "link"));
  give_away(here / "link");
  EXPECT_EQ(kind_of([&] { make_job_directory(here / "link"); }), FailureKind::access);
  give_away(here / "empty");
  EXPECT_EQ(kind_of([&] { make_job_directory(here / "empty"); }), FailureKind::access);
}

TEST_F(JobDirectories, AreMadeWhereOnlyTheirUserWrites) {
  const mode_t before = ::umask(002);  // as where users work in groups
  make_job_directory(here / "deep/job");
  ::umask(before);
  EXPECT_EQ(fs::status(here / "deep/job").permissions(), fs::perms(0755));
  fs::permissions(here / "deep", fs::perms(0777));
  EXPECT_EQ(kind_of([&] { make_job_directory(here / "deep/job"); }), FailureKind::access);
  fs::permissions(here / "deep", fs::perms(0775));  // as a project's directory
  EXPECT_NO_THROW(make_job_directory(here / "deep/job"));
  write(here / "deep/job/file", "");
  EXPECT_EQ(kind_of([&] { make_job_directory(here / "deep/job"); }), FailureKind::usage);
  EXPECT_EQ(kind_of([&] { make_job_directory(here / "deep/job/file"); }), FailureKind::usage);
}

TEST_F(JobDirectories, HoldNoMoreIdsThanAJobHas) {
  const fs::path directory = add("job_net_a", 1);
  write_submitted_job(directory, {"a", "net", "slurm", std::vector<std::string>(1001, "7"), "", {}, 1});
  EXPECT_EQ(kind_of([&] { static_cast<void>(try_read_submitted_job(directory)); }), FailureKind::invalid);
}

}  // namespace
}  // namespace sabath::test
