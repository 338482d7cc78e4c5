#include "packing/tree_copy.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

void put(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

class TreeCopies : public testing::Test {
 protected:
  TreeCopies() : top_(fs::canonical(dir_.path())) {
    put(top_ / "from/pkg/a.txt", "harmless");
    put(top_ / "secret/a.txt", "secret");
    fs::create_directory(top_ / "to");
  }
  // Its owner exchanges the folder when `at` is looked at.
  void copy_while_exchanged(const std::string& at) {
    TreeCopy copying(top_ / "to", {top_ / "from"}, {});
    copying.add(top_ / "from", "", [&](const std::string& path) {
      if (path == at) {
        fs::rename(top_ / "from/pkg", top_ / "aside");
        fs::create_symlink(top_ / "secret", top_ / "from/pkg");
      }
      return false;
    });
  }

  test::TempDir dir_;
  const fs::path top_;
};

TEST_F(TreeCopies, AFolderThatIsExchangedIsReadAsItWas) {
  copy_while_exchanged("pkg/a.txt");
  EXPECT_EQ(text_of(top_ / "to/pkg/a.txt"), "harmless");
}

TEST_F(TreeCopies, ALinkThatTookAFoldersPlaceIsRefused) {
  EXPECT_THROW(copy_while_exchanged("pkg"), Error);
  EXPECT_FALSE(fs::exists(top_ / "to/pkg"));
}

TEST_F(TreeCopies, NoLinkIsFollowedOnTheWay) {
  const auto nothing = [](const std::string&) { return false; };
  fs::create_symlink(top_ / "secret", top_ / "from/link");
  TreeCopy copying(top_ / "to", {top_ / "from"}, {});
  EXPECT_THROW(copying.add(top_ / "from", "link/a.txt", nothing), Error);
  EXPECT_THROW(copying.add(top_ / "from/link", "", nothing), Error);
  EXPECT_NO_THROW(copying.add(top_ / "from", "nothing/a.txt", nothing));
  EXPECT_FALSE(fs::exists(top_ / "to/link/a.txt"));
}

TEST_F(TreeCopies, EachFileIsAskedAbout) {
  std::string asked;
  TreeCopy copying(top_ / "to", {}, {}, [&](const fs::path& file, const std::string& name) {
    EXPECT_EQ(fs::canonical(file), top_ / "from/pkg/a.txt");
    asked = name;
  });
  copying.add(top_ / "from", "pkg", [](const std::string&) { return false; });
  EXPECT_EQ(asked, (top_ / "from/pkg/a.txt").native());
}

}  // namespace
}  // namespace sabath
