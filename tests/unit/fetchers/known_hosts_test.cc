// known_hosts: plain, hashed, patterned and revoked keys, and lines that are none.
#include "sftp/known_hosts.h"

#include <gtest/gtest.h>

#include "base/hmac.h"

namespace sabath {
namespace {

using Answer = KnownKeys::Answer;

HostKey key_of(const std::string& type, const std::string& rest) {
  return {type, std::string({0, 0, 0, static_cast<char>(type.size())}) + type + rest};
}
std::string line_of(const std::string& names, const HostKey& key) {
  return names + ' ' + key.type + ' ' + to_base64(key.blob) + " comment\n";
}
Answer judge(const std::string& text, const std::string& name, const HostKey& key) {
  KnownKeys keys;
  note_known_keys(keys, text, name);
  return keys.judge(key);
}

const HostKey mine = key_of("ssh-ed25519", "key"), other = key_of("ssh-rsa", "other");

TEST(KnownHosts, PlainPatternedAndHashedNames) {
  EXPECT_EQ(judge(line_of("lake", mine), "lake", mine), Answer::known);
  EXPECT_EQ(judge(line_of("a,la*", mine), "lake", mine), Answer::known);
  EXPECT_EQ(judge(line_of("*,!lake", mine), "lake", mine), Answer::unknown);
  EXPECT_EQ(judge(line_of("[lake]:2200", mine), "[lake]:2200", mine), Answer::known);
  EXPECT_EQ(judge(line_of("lake", mine), "[lake]:2200", mine), Answer::unknown);
  const std::string hashed = "|1|" + to_base64("salt") + '|' + to_base64(hmac("sha1", "salt", "lake"));
  EXPECT_EQ(judge(line_of(hashed, mine), "lake", mine), Answer::known);
  EXPECT_EQ(judge(line_of(hashed, mine), "pond", mine), Answer::unknown);
}

TEST(KnownHosts, ChangedAndRevoked) {
  EXPECT_EQ(judge(line_of("lake", other), "lake", mine), Answer::changed);
  EXPECT_EQ(judge(line_of("lake", other) + line_of("lake", mine), "lake", mine), Answer::known);
  EXPECT_EQ(judge(line_of("lake", mine) + "@revoked " + line_of("*", mine), "lake", mine), Answer::revoked);
  EXPECT_EQ(judge("@cert-authority " + line_of("*", mine), "lake", mine), Answer::unknown);
}

TEST(KnownHosts, LinesThatAreNone) {
  for (const std::string& text :
       {std::string("# lake\n\n"), std::string("lake\n"), std::string("lake ssh-ed25519 !!!!\n"),
        "lake ssh-rsa " + to_base64(mine.blob) + '\n', "|1|x|y ssh-ed25519 " + to_base64(mine.blob) + '\n',
        std::string("@revoked\n"), std::string("lake ssh-ed25519 AAAA\n")}) {
    EXPECT_EQ(judge(text, "lake", mine), Answer::unknown) << text;
  }
}

// RFC 2202 case 2 and RFC 4231 case 2; RFC 4648 section 10.
TEST(Hmac, PublishedVectors) {
  const auto hex = [](const std::string& bytes) {
    std::string text;
    for (const char c : bytes) {
      constexpr const char* digits = "0123456789abcdef";
      text += digits[static_cast<unsigned char>(c) >> 4];
      text += digits[static_cast<unsigned char>(c) & 15];
    }
    return text;
  };
  EXPECT_EQ(hex(hmac("sha1", "Jefe", "what do ya want for nothing?")), "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
  EXPECT_EQ(hex(hmac("sha256", "Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  for (const auto& [plain, text] : {std::pair("", ""), {"f", "Zg=="}, {"fo", "Zm8="}, {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(to_base64(plain), text);
    EXPECT_EQ(try_from_base64(text), plain);
  }
  for (const char* text : {"Zg", "Zg=", "Z===", "Zm 8=", "Zg==Zg==", "Zm8\n"})
    EXPECT_EQ(try_from_base64(text), std::nullopt);
}

}  // namespace
}  // namespace sabath
