// The pure parts of the s3 fetcher: profiles, places, XML, refusals and listings.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/xml.h"
#include "s3/listing.h"
#include "s3/place.h"
#include "s3/profile.h"
#include "s3/refusal.h"
#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath::s3 {
namespace {

template <typename F>
std::optional<FailureKind> kind_of(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.failure().kind;
  }
  return std::nullopt;
}

Url url(const char* text) { return Url::parse(text); }

TEST(S3Place, AmazonByHost) {
  const Place place = place_of(url("s3://my-bucket/a%20b/c+d"), {}, "");
  EXPECT_EQ(place.url().text(), "https://my-bucket.s3.us-east-1.amazonaws.com/a%20b/c%2Bd");
  EXPECT_EQ(place.host, "my-bucket.s3.us-east-1.amazonaws.com");
  EXPECT_EQ(place_of(url("s3://b/k"), {}, "eu-west-1").url().text(), "https://b.s3.eu-west-1.amazonaws.com/k");
  EXPECT_EQ(place_of(url("s3://dotted.bucket/k"), {}, "").url().text(),
            "https://s3.us-east-1.amazonaws.com/dotted.bucket/k");
}

TEST(S3Place, OthersByPath) {
  Profile profile;
  profile.endpoint_url = "http://127.0.0.1:8085/";
  EXPECT_EQ(place_of(url("s3://b/k%2F%25?versionId=a%2Bb"), profile, "").url().text(),
            "http://127.0.0.1:8085/b/k/%25?versionId=a%2Bb");
  EXPECT_EQ(place_of(url("s3://b/k"), profile, "").host, "127.0.0.1:8085");
  profile.endpoint_url = "https://objects.example.org:443/s3/";
  EXPECT_EQ(place_of(url("s3://b/k"), profile, "").url().text(), "https://objects.example.org/s3/b/k");
  profile.addressing = "virtual";
  EXPECT_EQ(place_of(url("s3://b/k"), profile, "").url().text(), "https://b.objects.example.org/s3/k");
}

TEST(S3Place, AUrlSaysWhereItsBucketIs) {
  const Profile own{.keys = {"id", Secret("secret"), Secret("")},
                    .region = "mine",
                    .endpoint_url = "https://lab:9000",
                    .addressing = "virtual",
                    .elsewhere = {}};
  const auto text_of = [&](const char* text) {
    return place_of(url(text), profile_of(url(text), own), "").url().text();
  };
  EXPECT_EQ(text_of("s3://b/k"), "https://b.lab:9000/k");
  EXPECT_EQ(text_of("s3://b/k?endpoint_override=o.example&versionId=7"), "https://o.example/b/k?versionId=7");
  EXPECT_EQ(text_of("s3://b/k?scheme=http&endpoint_override=h%3A81"), "http://h:81/b/k");
  EXPECT_EQ(text_of("s3://b/k?endpoint_override=o.example&force_virtual_addressing=1"), "https://b.o.example/k");
  EXPECT_EQ(profile_of(url("s3://b/k?endpoint_override=o.example&region=r-1"), own).region, "r-1");
  EXPECT_FALSE(profile_of(url("s3://b/k?endpoint_override=lab:9000"), own).keys.empty()) << "the user's own endpoint";
  for (const char* other : {"s3://b/k?endpoint_override=o.example", "s3://b/k?endpoint_override=lab",
                            "s3://b/k?endpoint_override=lab:9000&scheme=http", "s3://b/k?anonymous=true"})
    EXPECT_TRUE(profile_of(url(other), own).keys.empty()) << other;
  for (const char* wrong : {"s3://b/k?endpoint_override=h/p", "s3://b/k?endpoint_override=u@h",
                            "s3://b/k?anonymous=maybe", "s3://b/k?scheme=ftp", "s3://b/k?region=A.B", "s3://b/k?acl"})
    EXPECT_EQ(kind_of([&] { static_cast<void>(profile_of(url(wrong), own)); }), FailureKind::unavailable) << wrong;
}

TEST(S3Place, WhatMakesNoSense) {
  for (const char* text : {"s3://b", "s3://b/", "s3://b:80/k", "s3://b/k?acl", "s3://b/k?versionId=1&x=2"}) {
    EXPECT_EQ(kind_of([&] { static_cast<void>(place_of(url(text), {}, "")); }), FailureKind::unavailable) << text;
  }
  for (const char* endpoint : {"ftp://h", "h:80", "http://", "https://h/?x=1"}) {
    Profile profile;
    profile.endpoint_url = endpoint;
    EXPECT_EQ(kind_of([&] { static_cast<void>(place_of(url("s3://b/k"), profile, "")); }), FailureKind::usage)
        << endpoint;
  }
  Profile profile;
  profile.region = "x.evil.example/";
  EXPECT_EQ(kind_of([&] { static_cast<void>(place_of(url("s3://b/k"), profile, "")); }), FailureKind::usage);
}

class S3Profile : public testing::Test {
 protected:
  void write(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file) << text;
    chmod(file.c_str(), 0600);
  }
  test::TempDir directory;
  S3Settings settings{.access_key_id = {},
                      .secret_access_key = {},
                      .session_token = {},
                      .profile = {},
                      .config_file = directory / "config",
                      .credentials_file = directory / "credentials",
                      .region = {},
                      .endpoint_url = {},
                      .addressing = {}};
};

TEST_F(S3Profile, NothingIsAnonymous) {
  const Profile profile = read_profile(settings);
  EXPECT_TRUE(profile.keys.empty());
  EXPECT_EQ(profile.region + profile.endpoint_url + profile.elsewhere, "");
}

TEST_F(S3Profile, BothFilesAndNestedSettings) {
  write(settings.config_file,
        "# mine\n[default]\nregion = us-west-2\n\n[ profile  lake ]\nregion=eu-west-1\nservices = local\n"
        "s3 =\n  addressing_style = path\noutput = json\n[services local]\ns3 =\n  endpoint_url = http://h:1\n");
  write(settings.credentials_file,
        "[default]\naws_access_key_id = A\naws_secret_access_key = S\n[lake]\naws_access_key_id=B\n"
        "aws_secret_access_key = T=\naws_session_token = U\n");
  Profile profile = read_profile(settings);
  EXPECT_EQ(profile.keys.access_key_id, "A");
  EXPECT_EQ(profile.region, "us-west-2");
  settings.profile = "lake";
  profile = read_profile(settings);
  EXPECT_EQ(profile.keys.access_key_id, "B");
  EXPECT_EQ(profile.keys.secret.reveal(), "T=");
  EXPECT_EQ(profile.keys.session_token.reveal(), "U");
  EXPECT_EQ(profile.region, "eu-west-1");
  EXPECT_EQ(profile.endpoint_url, "http://h:1");
  EXPECT_EQ(profile.addressing, "path");
  settings.access_key_id = "E";
  settings.secret_access_key = Secret("F");
  settings.region = "r";
  settings.endpoint_url = "http://e";
  profile = read_profile(settings);
  EXPECT_EQ(profile.keys.access_key_id, "E");
  EXPECT_EQ(profile.region, "r");
  EXPECT_EQ(profile.endpoint_url, "http://e");
  settings.anonymous = true;
  EXPECT_TRUE(read_profile(settings).keys.empty());
}

TEST_F(S3Profile, WhatIsRefused) {
  settings.profile = "absent";
  EXPECT_EQ(kind_of([&] { static_cast<void>(read_profile(settings)); }), FailureKind::usage);
  settings.profile.clear();
  for (const char* text : {"[default\n", "x = 1\n", "[default]\nnonsense\n"}) {
    write(settings.config_file, text);
    EXPECT_EQ(kind_of([&] { static_cast<void>(read_profile(settings)); }), FailureKind::invalid) << text;
  }
  write(settings.config_file, "");
  write(settings.credentials_file, "[default]\naws_access_key_id = A\naws_secret_access_key = S\n");
  chmod(settings.credentials_file.c_str(), 0644);
  EXPECT_EQ(kind_of([&] { static_cast<void>(read_profile(settings)); }), FailureKind::access);
}

TEST_F(S3Profile, HalfOfAKeyIsNone) {
  settings.access_key_id = "A";
  EXPECT_EQ(kind_of([&] { static_cast<void>(read_profile(settings)); }), FailureKind::usage);
}

TEST_F(S3Profile, KeysThatOthersKeepAreNamed) {
  write(settings.config_file, "[default]\nsso_session = corp\n");
  EXPECT_EQ(read_profile(settings).elsewhere, "sso_session");
  settings.anonymous = true;
  EXPECT_EQ(read_profile(settings).elsewhere, "");
}

TEST(S3Refusal, CodesAndTheirKinds) {
  const Refusal refusal = parse_refusal(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>NoSuchKey</Code><Message>It &lt;is&gt; not "
      "&#x74;here</Message><Key>a</Key><Region>eu-west-1</Region></Error>");
  EXPECT_EQ(refusal.code, "NoSuchKey");
  EXPECT_EQ(refusal.message, "It <is> not there");
  EXPECT_EQ(refusal.region, "eu-west-1");
  EXPECT_EQ(try_meaning("NoSuchKey")->kind, FailureKind::unavailable);
  EXPECT_EQ(try_meaning("SlowDown")->kind, FailureKind::network);
  EXPECT_EQ(try_meaning("SignatureDoesNotMatch")->kind, FailureKind::access);
  EXPECT_EQ(try_meaning("Whatever"), std::nullopt);
  EXPECT_EQ(parse_refusal("<Error><Region>evil.example/</Region></Error>").region, "");
  for (const char* text : {"", "<html>404</html>", "<Error><Code>cut", "{}", "<Error/>"}) {
    EXPECT_EQ(parse_refusal(text).code, "") << text;
  }
}

TEST(S3Xml, WhatIsNotUnderstoodIsRefused) {
  std::string deep;
  for (int i = 0; i < 20; ++i) deep += "<a>";
  for (const std::string& text :
       {std::string("<a>"), std::string("<a></b>"), std::string("<!DOCTYPE a [<!ENTITY e \"x\">]><a>&e;</a>"),
        std::string("<a>&e;</a>"), std::string("<a>&#0;</a>"), std::string("<a>&#1114112;</a>"),
        std::string("<a/><b/>"), std::string("<a><![CDATA[x</a>"), deep, std::string("x")}) {
    EXPECT_EQ(kind_of([&] { static_cast<void>(parse_xml(text)); }), FailureKind::unavailable) << text;
  }
  EXPECT_EQ(parse_xml("<n:a x='1'>&#233;&#8364;&#128512;<!-- c --><![CDATA[<&>]]></n:a>").text, "é€😀<&>");
}

TEST(S3Listing, PagesAndTheirKeys) {
  const ListPage page = parse_list_page(
      "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><EncodingType>url</EncodingType>"
      "<IsTruncated>true</IsTruncated><NextContinuationToken>1/a+b=</NextContinuationToken>"
      "<Contents><Key>a+b%2Bc%0A</Key><Size>18446744073709551615</"
      "Size><ETag>&quot;d41d8cd98f00b204e9800998ecf8427e-2&quot;"
      "</ETag><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
      "<CommonPrefixes><Prefix>d/</Prefix></CommonPrefixes></ListBucketResult>");
  ASSERT_EQ(page.objects.size(), 1u);
  EXPECT_EQ(page.objects[0].key, "a b+c\n");
  EXPECT_EQ(page.objects[0].size_bytes, UINT64_MAX);
  EXPECT_EQ(page.objects[0].etag, "\"d41d8cd98f00b204e9800998ecf8427e-2\"");
  EXPECT_EQ(page.prefixes, std::vector<std::string>{"d/"});
  EXPECT_EQ(page.next, "1/a+b=");
  EXPECT_EQ(canonical_query(list_query("p/", "/", page.next)),
            "continuation-token=1%2Fa%2Bb%3D&delimiter=%2F&encoding-type=url&list-type=2&prefix=p%2F");
}

TEST(S3Listing, WhatIsRefused) {
  for (const char* text :
       {"<Other/>", "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        "<ListBucketResult><Contents><Key></Key><Size>1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>%00</Key><Size>1</Size></Contents>"
        "</ListBucketResult>"}) {
    EXPECT_EQ(kind_of([&] { static_cast<void>(parse_list_page(text)); }), FailureKind::invalid) << text;
  }
}

}  // namespace
}  // namespace sabath::s3
