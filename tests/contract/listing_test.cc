// Buckets, listed by a server that verifies each signature.

#include <gtest/gtest.h>

#include <memory>

#include "sabath/resolver.h"
#include "support/swift.h"

namespace sabath::test {
namespace {

// Asks once, and counts.
class Once : public Inquiry {
 public:
  Url rewritten(const Url& url) const override { return url; }
  void attempt(const Url&, const std::function<void(Traffic&)>& request) override { request(traffic); }
  std::optional<std::string> document(const Url&, std::size_t) override { return std::nullopt; }
  std::stop_token stop() const override { return {}; }
  Traffic traffic;
};

class BucketListing : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!Swift::unavailable_because().empty()) return;
    std::map<std::string, std::string> objects = {{"bkt/top", "1"},
                                                  {"bkt/run/a b&<c>.h5", "12"},
                                                  {"bkt/run/d/\xC3\xBC.h5", "123"},
                                                  {"bkt/run/d/x.txt", ""},
                                                  {"bkt/runs/other", "1"}};
    server = std::make_unique<Swift>(objects);
  }
  static void TearDownTestSuite() { server.reset(); }
  void SetUp() override {
    if (const std::string reason = Swift::unavailable_because(); !reason.empty()) GTEST_SKIP() << reason;
    settings.s3.access_key_id = Swift::access_key_id;
    settings.s3.secret_access_key = Secret(std::string(Swift::secret));
    settings.s3.endpoint_url = server->endpoint();
  }
  std::string list(const char* text) {
    const auto fetchers = make_fetchers(settings);
    const Url url = Url::parse(text);
    Resolver* resolver = fetchers->resolver_for(url);
    if (resolver == nullptr) return "no list";
    listing = resolver->resolve(url, inquiry);
    std::string names;
    for (const auto& file : listing.files) {
      names += file.path.text() + "=" + std::to_string(file.size_bytes.value_or(99)) + "|";
    }
    return names;
  }

  static std::unique_ptr<Swift> server;
  FetcherSettings settings{.user_agent = "sabath-test", .ca_file = {}};
  Once inquiry;
  Listing listing;
};
std::unique_ptr<Swift> BucketListing::server;

TEST_F(BucketListing, StandsBelowItsPrefix) {
  EXPECT_EQ(list("s3://bkt/run/"), "a b&<c>.h5=2|d/x.txt=0|d/\xC3\xBC.h5=3|");
  EXPECT_EQ(listing.files.at(0).urls.at(0).text(), "s3://bkt/run/a%20b%26%3Cc%3E.h5");
  EXPECT_EQ(list("s3://bkt/run/*.h5"), "a b&<c>.h5=2|");
  EXPECT_EQ(inquiry.traffic.requests, 2u) << "each of one page";
  EXPECT_EQ(list("s3://bkt/r*/**/*.h5"), "run/a b&<c>.h5=2|run/d/\xC3\xBC.h5=3|");
  EXPECT_EQ(list("s3://bkt/run/d/x.txt"), "no list");
  EXPECT_EQ(list("s3://bkt/none/"), "");
}

TEST_F(BucketListing, InPages) {
  EXPECT_EQ(list("s3://bkt/"), "run/a b&<c>.h5=2|run/d/x.txt=0|run/d/\xC3\xBC.h5=3|runs/other=1|top=1|");
  EXPECT_EQ(inquiry.traffic.requests, 2u);
}

}  // namespace
}  // namespace sabath::test
