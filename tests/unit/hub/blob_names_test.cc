#include "hub/blob_names.h"

#include <gtest/gtest.h>

namespace sabath {
namespace {

// `printf 'hello\n' | git hash-object --stdin`, and of nothing.
TEST(GitBlobHash, IsGits) {
  const std::string text = "hello\n";
  StreamHash hash = git_blob_hash(text.size());
  hash.update(std::as_bytes(std::span(text)));
  EXPECT_EQ(hash.finish_hex(), "ce013625030ba8dba906f756967f9e9ca394464a");
  EXPECT_EQ(git_blob_hash(0).finish_hex(), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
}

TEST(LfsPointer, IsTheSpecificationsText) {
  const std::string hex = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
  EXPECT_EQ(lfs_pointer_text(hex, 12345),
            "version https://git-lfs.github.com/spec/v1\noid sha256:" + hex + "\nsize 12345\n");
}

TEST(PathInHub, BetweenAssetAndRepository) {
  HubRevision hub;
  EXPECT_EQ(path_in_hub(hub, "a/b"), "a/b");
  hub.top = "data/x";
  EXPECT_EQ(path_in_hub(hub, "a/b"), "data/x/a/b");
  hub.below = "a";
  EXPECT_EQ(path_in_hub(hub, "a/b"), "data/x/b");
  EXPECT_EQ(path_in_hub(hub, "ab/b"), "");
}

}  // namespace
}  // namespace sabath
