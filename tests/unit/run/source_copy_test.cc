#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "run/source_copy.h"
#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

TEST(SourceCopy, IsWritableAndItsOwn) {
  const test::TempDir home;
  fs::create_directories(home / "from/a/b");
  std::ofstream(home / "from/a/f") << "text";
  std::ofstream(home / "from/run.sh") << "#!/bin/sh\n";
  fs::permissions(home / "from/a/f", fs::perms::owner_read);
  fs::permissions(home / "from/run.sh", fs::perms::owner_read | fs::perms::owner_exec);
  fs::create_symlink("f", home / "from/a/l");
  copy_source(home / "from", home / "to", {});
  std::ofstream(home / "to/a/f", std::ios::app) << "!";
  EXPECT_EQ(fs::file_size(home / "from/a/f"), 4u);
  EXPECT_EQ(fs::file_size(home / "to/a/l"), 5u);
  EXPECT_TRUE(fs::is_directory(home / "to/a/b"));
  EXPECT_NE(fs::status(home / "to/run.sh").permissions() & fs::perms::owner_exec, fs::perms::none);
}

TEST(SourceCopy, RefusesWhatIsNoSource) {
  const test::TempDir home;
  fs::create_directories(home / "link");
  fs::create_symlink("../../etc", home / "link/out");
  EXPECT_THROW(copy_source(home / "link", home / "to1", {}), Error);
  fs::create_directories(home / "pipe");
  ASSERT_EQ(::mkfifo((home / "pipe/p").c_str(), 0600), 0);
  EXPECT_THROW(copy_source(home / "pipe", home / "to2", {}), Error);
  EXPECT_THROW(copy_source(home / "absent", home / "to3", {}), Error);
}

}  // namespace
}  // namespace sabath
