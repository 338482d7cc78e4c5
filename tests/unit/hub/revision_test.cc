#include "hub/revision.h"

#include <gtest/gtest.h>

#include "sabath/error.h"

namespace sabath {
namespace {

const std::string commit = "0123456789abcdef0123456789abcdef01234567";

HubRevision net() {
  return {.kind = "models",
          .repository = "acme/net",
          .commit = commit,
          .revision = "main",
          .top = {},
          .below = {},
          .whole = true,
          .open = false};
}

TEST(HubRevision, NotesComeBack) {
  HubRevision hub = net();
  EXPECT_EQ(try_decode_hub_note(encode_hub_note(hub)), hub);
  hub.kind = "datasets";
  hub.revision = "refs/pr/1";
  hub.top = "a/b";
  hub.below = "über x";
  hub.open = true;
  EXPECT_EQ(try_decode_hub_note(encode_hub_note(hub)), hub);
}

TEST(HubRevision, OtherTextsAreNoNotes) {
  const std::string note = encode_hub_note(net());
  for (std::size_t n = 0; n < note.size(); ++n) EXPECT_FALSE(try_decode_hub_note(note.substr(0, n))) << n;
  for (const char* text : {"", "3e0d", "of sha256:00", "{}", "{\"hub\":1}", "{\"hub\":\"acme/net\"}", "select=a"})
    EXPECT_FALSE(try_decode_hub_note(text)) << text;
  HubRevision wrong = net();
  wrong.commit = "main";
  EXPECT_FALSE(try_decode_hub_note(encode_hub_note(wrong)));
  wrong = net();
  wrong.top = "../x";
  EXPECT_FALSE(try_decode_hub_note(encode_hub_note(wrong)));
}

TEST(HubRevision, RepositoriesAsTheHubAllowsThem) {
  for (const char* good : {"acme/net", "gpt2", "a/b", "A.b_c/d-1.0"}) EXPECT_TRUE(is_hub_repository(good)) << good;
  const std::string long_name(97, 'a');
  for (const std::string& bad : {std::string(""), std::string("/"), std::string("a/"), std::string("/b"),
                                 std::string("a/b/c"), std::string("a--b/c"), std::string("../x"), std::string(".a/b"),
                                 std::string("a/b-"), std::string("a/b.."), std::string("a b/c"), long_name})
    EXPECT_FALSE(is_hub_repository(bad)) << bad;
}

TEST(HubRevision, FoldersOfACache) {
  EXPECT_EQ(hub_folder(net()), "models--acme--net");
  const auto old = try_parse_hub_folder("datasets--squad");
  ASSERT_TRUE(old);
  EXPECT_EQ(spelled(*old), "datasets/squad");
  EXPECT_EQ(hub_folder(*old), "datasets--squad");
  const auto parsed = try_parse_hub_folder("models--acme--net");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->repository, "acme/net");
  for (const char* bad :
       {"datasets--acme-tree/t", "", "models", "models--", "models--a--b--c", "other--a--b", "models--..--x", ".locks"})
    EXPECT_FALSE(try_parse_hub_folder(bad)) << bad;
}

TEST(HubRevision, SpelledAsPeopleDo) {
  EXPECT_EQ(spelled(parse_hub_repository("datasets/acme/set")), "datasets/acme/set");
  EXPECT_EQ(spelled(parse_hub_repository("models/acme/net")), "acme/net");
  EXPECT_THROW(static_cast<void>(parse_hub_repository("a/b/c")), Error);
  EXPECT_THROW(static_cast<void>(parse_hub_repository("datasets/")), Error);
}

}  // namespace
}  // namespace sabath
