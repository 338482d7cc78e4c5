// A repository's entries for files and repositories that stand elsewhere.
#include "fetch/git/submodule.h"

#include <gtest/gtest.h>

#include "fetch/git/lfs_pointer.h"
#include "sabath/error.h"

namespace sabath::test {
namespace {

TEST(Submodule, WhereItIs) {
  EXPECT_EQ(submodule_origin("https://h/a/b.git", "../c.git"), "https://h/a/c.git");
  EXPECT_EQ(submodule_origin("https://h/a/b.git/", "./c"), "https://h/a/b.git/c");
  EXPECT_EQ(submodule_origin("https://h/a/b", "../../x/c"), "https://h/x/c");
  EXPECT_EQ(submodule_origin("https://h/a", "git@code.example:lab/c.git"), "https://code.example/lab/c.git");
  EXPECT_EQ(submodule_origin("https://h/a", "ssh://git@code.example/lab/c.git"), "https://code.example/lab/c.git");
  EXPECT_EQ(submodule_origin("ssh://git@h/a", "git@code.example:lab/c"), "ssh://git@code.example/lab/c");
  EXPECT_EQ(submodule_origin("/here/a", "/there/c"), "/there/c");
}

TEST(Submodule, LeadsToNoProgramAndNoFile) {
  for (const char* good : {"https://code.example/c", "ssh://git@code.example/c", "http://8.8.8.8/c"})
    EXPECT_NO_THROW(check_submodule("https://h.example/a", good)) << good;
  for (const char* bad : {"file:///etc", "/etc", "ext::sh -c true", "--upload-pack=x", "https:/c", ""})
    EXPECT_THROW(check_submodule("https://h.example/a", bad), Error) << bad;
  EXPECT_NO_THROW(check_submodule("file:///here/a", "file:///there/c"));
}

TEST(AnnexKey, SaysSizeAndChecksum) {
  const std::string hex(128, 'a');
  const auto key = try_parse_annex_key("SHA512E-s12-m99--" + hex + ".nii.gz");
  ASSERT_TRUE(key);
  EXPECT_EQ(key->size_bytes, 12U);
  EXPECT_EQ(key->checksum.sha512, hex);
  EXPECT_TRUE(try_parse_annex_key("WORM-s3-m1--a b.txt")->checksum.empty());
  EXPECT_TRUE(try_parse_annex_key("URL--http&c%%x")->checksum.empty());
  for (const char* bad : {"", "--", "-s1--x", "sha256--x", "SHA256", "SHA256-s1--", "SHA256--a/b"})
    EXPECT_FALSE(try_parse_annex_key(bad)) << bad;
  EXPECT_FALSE(try_parse_annex_link("../data/x"));
  EXPECT_FALSE(try_parse_annex_link("annex/objects/notes.txt"));
  EXPECT_FALSE(try_parse_annex_pointer("text\n/annex/objects/SHA256--x\n"));
}

}  // namespace
}  // namespace sabath::test
