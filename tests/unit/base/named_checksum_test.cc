// Hashes that stand in the names of content.
#include "base/named_checksum.h"

#include <gtest/gtest.h>

#include <string>

#include "base/hash.h"
#include "sabath/error.h"

namespace sabath {
namespace {

const std::string digest = sha256("Hello World!").hex();                  // RFC 6920, section 8.1
const std::string as_ni = "f4OxZX_x_FO5LcGBSKHWXfwtSx-j1ncoSt3SABJtkGk";  // the same

std::string sha256_of(const std::string& url) { return checksum_in_name(Url::parse(url)).sha256; }

TEST(NamedChecksum, StandsInManyNames) {
  EXPECT_EQ(sha256_of("oci://h:5000/lab/n@sha256:" + digest), digest);
  EXPECT_EQ(sha256_of("lfs+https://h/r.git/info/lfs/" + digest + "?size=3"), digest);
  EXPECT_EQ(sha256_of("ni://example.com/sha-256;" + as_ni + "?ct=text/plain"), digest);
  EXPECT_EQ(sha256_of("ni:///sha-256;" + as_ni), digest);
  EXPECT_EQ(sha256_of("https://h/.well-known/ni/sha-256/" + as_ni), digest);
  EXPECT_EQ(sha256_of("https://h/v2/lab/n/blobs/sha256:" + digest), digest);
  EXPECT_EQ(sha256_of("https://h/v2/lab/n/blobs/sha256%3A" + digest), digest);
  EXPECT_EQ(sha256_of("https://h/f.whl?x#sha256=" + digest), digest);
  EXPECT_EQ(sha256_of("https://h/f.whl#sha256=" + digest + "&egg=x"), digest);
  EXPECT_EQ(sha256_of("https://h/f.whl#egg=x&sha256=" + digest), digest);
  EXPECT_EQ(sha256_of("https://h/f.whl#sha256:" + digest), digest);
  EXPECT_EQ(sha256_of("https://h/v2/lab/n/manifests/sha256:" + digest), digest);
  EXPECT_EQ(sha256_of("https://h/v2/lab/n/manifests/v1#sha256=" + digest), digest);
  EXPECT_EQ(sha256_of("sabath://h/v1/checksums/sha256/" + digest), digest);
  EXPECT_EQ(checksum_in_name(Url::parse("https://h/f#md5=" + std::string(32, 'A'))).md5, std::string(32, 'a'));
}

TEST(NamedChecksum, OthersSayNone) {
  for (const std::string url :
       {"oci://h/n:latest", "https://h/f", "https://h/f#top", "https://h/f#version=12", "ni:///sha-256-32;f4OxZQ",
        "ni:///sha-256;not*base64", "https://h/.well-known/ni/", "https://h/v2/n/blobs/",
        "https://h/#=", "https://h/v2/n/manifests/latest", "https://h/f#a&b=&&", "https://h/#", "ni:x",
        "lfs+https://h/r.git/info/lfs/1", "sabath://h/v1/checksums/sha256/", "file:///a#sha256=1", "ni:///;"}) {
    EXPECT_TRUE(checksum_in_name(Url::parse(url)).empty()) << url;
  }
}

TEST(NamedChecksum, OneThatIsNotComputedIsRefused) {
  const std::string other(64, '0');
  for (const std::string& url :
       {std::string("https://h/.well-known/ni/sha-256-128/AAAAAAAAAAAAAAAAAAAAAA"),
        std::string("https://h/.well-known/ni/sha3-256/" + as_ni),
        std::string("https://h/.well-known/ni/sha-256/not*base64"), std::string("https://h/f#sha256=12"),
        "https://h/f#sha256=" + digest.substr(1), "sabath://h/v1/objects/" + digest + ".12",
        "https://h/f#sha256=" + digest + "&sha256=" + other}) {
    EXPECT_THROW(static_cast<void>(checksum_in_name(Url::parse(url))), Error) << url;
  }
}

TEST(NamedChecksum, TwoOfOneFileAreEqual) {
  Checksums published;
  add_named_checksums({Url::parse("https://h/f"), Url::parse("oci://h/n@sha256:" + digest)}, published);
  EXPECT_EQ(published.sha256, digest);
  add_named_checksums({Url::parse("https://h/f#sha256=" + digest)}, published);
  EXPECT_THROW(add_named_checksums({Url::parse("https://h/f#sha256=" + std::string(64, '0'))}, published), Error);
}

}  // namespace
}  // namespace sabath
