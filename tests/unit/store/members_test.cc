// Modes that the store sets, and who could read a file, by what its mode and its ACL say.
#include "store/disk/members.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "support/temp_dir.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;

struct Umask {
  explicit Umask(mode_t mask) : before(::umask(mask)) {}
  ~Umask() { ::umask(before); }
  const mode_t before;
};

mode_t mode_of(const fs::path& path) { return try_stat(path)->st_mode & 07777; }

TEST(Members, ModesOfASharedStoreAreSetWhateverTheUmask) {
  const TempDir temp;
  const Umask strict(077);
  const Members members(::getegid()), nobody;
  for (const bool shared : {true, false}) {
    const Members& own = shared ? members : nobody;
    const fs::path top = temp.path() / (shared ? "shared" : "own");
    own.make_directories(top / "a/b");
    const Fd file = own.create(top / "a/b/f", O_RDWR | O_CREAT | O_EXCL, 0644);
    EXPECT_EQ(mode_of(top / "a/b"), shared ? 02775U : 0700U);
    EXPECT_EQ(mode_of(top / "a/b/f"), shared ? 0644U : 0600U);
    own.seal(file.get(), "f");
    EXPECT_EQ(mode_of(top / "a/b/f"), shared ? 0444U : 0400U);
  }
  members.keep_to_group();
  const Fd kept = members.create(temp.path() / "kept", O_RDWR | O_CREAT | O_EXCL, 0644);
  members.seal(kept.get(), "kept");
  EXPECT_EQ(mode_of(temp.path() / "kept"), 0440U);
  const Members again(::getegid());
  again.heed(kept.get());
  const Fd made = again.create(temp.path() / "made", O_RDWR | O_CREAT | O_EXCL, 0644);
  again.seal(made.get(), "made");
  EXPECT_EQ(mode_of(temp.path() / "made"), 0440U) << "what comes of it is kept to the group, too";
}

TEST(Members, WhoCanReadAFile) {
  const TempDir temp;
  const fs::path directory = temp.path() / "d", file = directory / "f";
  fs::create_directory(directory);
  { const Fd made = open_file(file, O_WRONLY | O_CREAT); }
  const Audience group{{}, {::getegid()}}, others{{}, {::getegid() + 1}}, owner{::geteuid(), {}};
  struct Case {
    mode_t mode;
    bool group, others;
  };
  for (const Case& c :
       {Case{0600, false, false}, Case{0640, true, false}, Case{0644, true, true}, Case{0604, false, true}}) {
    ASSERT_EQ(::chmod(file.c_str(), c.mode), 0);
    EXPECT_EQ(group.may_read(file), c.group) << std::oct << c.mode;
    EXPECT_EQ(others.may_read(file), c.others) << std::oct << c.mode;
    EXPECT_TRUE(owner.may_read(file));
  }
  const fs::path canonical = fs::canonical(file);
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  ASSERT_EQ(::chmod(directory.c_str(), 0700), 0);
  EXPECT_FALSE(group.can_read(canonical)) << "its directory is closed";
  EXPECT_TRUE(group.may_read(canonical));
}

TEST(Members, AnAclsMaskIsNotTheGroupsPermission) {
  const TempDir temp;
  const fs::path file = temp.path() / "f";
  { const Fd made = open_file(file, O_WRONLY | O_CREAT); }
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  struct {
    std::uint32_t version = 2;
    std::array<AclEntry, 5> entries{{{AclEntry::owner, 6},
                                     {AclEntry::user, 4, 12345},
                                     {AclEntry::owning_group, 0},
                                     {AclEntry::mask, 4},
                                     {AclEntry::other, 0}}};
  } const acl;
  if (::setxattr(file.c_str(), "system.posix_acl_access", &acl, sizeof acl, 0) != 0) GTEST_SKIP() << "no ACLs here";
  EXPECT_EQ(mode_of(file), 0640U) << "what it shows is the mask";
  EXPECT_FALSE((Audience{{}, {::getegid()}}).may_read(file));
  EXPECT_TRUE((Audience{12345, {}}).may_read(file));
}

}  // namespace
}  // namespace sabath::test
