// A URL that stands for many files: who repeats and bounds the resolver's requests, and what is believed of its answer.
#include "fetch/resolve.h"

#include <gtest/gtest.h>

#include <thread>

#include "fetch/git/lfs_pointer.h"
#include "fetch_bench.h"

namespace sabath::test {
namespace {

ListedFile file(const char* path, const char* url) { return {RelativePath::parse(path), {Url::parse(url)}, {}, {}}; }

// Does what a test says; counts how often it was asked.
class Told : public Resolver {
 public:
  std::function<Listing(Inquiry&)> tell;
  bool lists(const Url& url) const override { return url.path().ends_with('/'); }
  Listing resolve(const Url&, Inquiry& inquiry) override {
    ++asked;
    return tell(inquiry);
  }
  int asked = 0;
};

class ToldSet : public FetcherSet {
 public:
  explicit ToldSet(Told& told) : told_(told) {}
  Fetcher* find(std::string_view) const override { return nullptr; }
  std::vector<Scheme> schemes() const override { return {}; }
  Resolver* resolver_for(const Url& url) const override { return told_.lists(url) ? &told_ : nullptr; }

 private:
  Told& told_;
};

class Resolve : public testing::Test {
 protected:
  Listing resolve(const std::vector<const char*>& texts, std::optional<std::uint64_t> limit = {},
                  std::chrono::milliseconds time_max = listing_time_max) {
    std::vector<Url> urls;
    for (const char* text : texts) urls.push_back(Url::parse(text));
    FetchContext own = bench.context();
    FetchContext context{
        .store = own.store,
        .fetchers = set,
        .events = own.events,
        .ledger = own.ledger,
        .space = own.space,
        .limiter = own.limiter,
        .hosts = own.hosts,
        .rewrites = own.rewrites,
        .lanes = own.lanes,
        .force = own.force,
        .stop = own.stop,
    };
    return sabath::resolve(context, urls, limit, time_max);
  }
  FailureKind kind_of(const std::vector<const char*>& urls, std::chrono::milliseconds time_max = listing_time_max) {
    try {
      (void)resolve(urls, {}, time_max);
    } catch (const Error& error) {
      return error.failure().kind;
    }
    return FailureKind::internal;
  }

  FetchBench bench;
  Told told;
  ToldSet set{told};
};

TEST_F(Resolve, AsksAgainWhereThatMayHelp) {
  int failures = 2;
  told.tell = [&](Inquiry& inquiry) {
    inquiry.attempt(Url::parse("https://h/"), [&](Traffic& traffic) {
      ++traffic.requests;
      traffic.bytes += 10;
      if (failures-- > 0) throw Error(Failure{FailureKind::network, "busy", "", std::chrono::milliseconds(1)});
    });
    return Listing{{file("a", "https://h/a"), file("b", "https://h/b")}, "v", true};
  };
  EXPECT_EQ(resolve({"https://h/"}, 1).files.size(), 1u);
  EXPECT_EQ(told.asked, 1);
  const SourceRecord record = bench.record("https://h/");
  EXPECT_EQ(record.requests, 3u);
  EXPECT_EQ(record.bytes, 30u);
  EXPECT_EQ(record.failures, 2u);
}

TEST_F(Resolve, EndsWhatHasNoEnd) {
  told.tell = [&](Inquiry& inquiry) -> Listing {
    for (;;) inquiry.attempt(Url::parse("https://h/"), [](Traffic& traffic) { ++traffic.requests; });
  };
  EXPECT_EQ(kind_of({"https://h/"}), FailureKind::invalid);
  told.tell = [&](Inquiry& inquiry) -> Listing {
    for (;;) inquiry.attempt(Url::parse("https://h/"), [](Traffic& traffic) { traffic.bytes += 1ULL << 30; });
  };
  EXPECT_EQ(kind_of({"https://h/"}), FailureKind::invalid);
}

// One request that never ends by itself, as that of a server which sends a byte a second; and one that is to be
// repeated only after minutes. What is to be repeated after a day is not waited for: it says when to come back.
TEST_F(Resolve, EndsARequestWhoseTimeIsOver) {
  told.tell = [&](Inquiry& inquiry) -> Listing {
    inquiry.attempt(Url::parse("https://h/"), [&](Traffic&) {
      while (!inquiry.stop().stop_requested()) std::this_thread::yield();
      throw Error(FailureKind::interrupted, "stopped");
    });
    return {};
  };
  EXPECT_EQ(kind_of({"https://h/"}, std::chrono::milliseconds(20)), FailureKind::invalid);
  for (const auto& [asked, kind] : {std::pair{std::chrono::minutes(2), FailureKind::invalid},
                                    std::pair{std::chrono::minutes(24 * 60), FailureKind::network}}) {
    told.tell = [&, asked = asked](Inquiry& inquiry) -> Listing {
      inquiry.attempt(Url::parse("https://h/"), [&](Traffic&) {
        throw Error(Failure{FailureKind::network, "busy", "", asked});
      });
      return {};
    };
    EXPECT_EQ(kind_of({"https://h/"}, std::chrono::milliseconds(20)), kind);
  }
}

TEST_F(Resolve, StopsARequestWhenItIsAsked) {
  told.tell = [&](Inquiry& inquiry) -> Listing {
    inquiry.attempt(Url::parse("https://h/"), [&](Traffic&) {
      bench.stop.request_stop();
      throw Error(FailureKind::interrupted, inquiry.stop().stop_requested() ? "stopped" : "not stopped");
    });
    return {};
  };
  try {
    (void)resolve({"https://h/"});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::interrupted);
    EXPECT_EQ(error.failure().message, "stopped");
  }
}

TEST_F(Resolve, GoesOnToTheNextMirror) {
  told.tell = [&](Inquiry&) {
    if (told.asked == 1) throw Error(FailureKind::unavailable, "gone");
    return Listing{{file("a", "https://h/a")}, "", false};
  };
  EXPECT_EQ(resolve({"https://h/1/", "https://h/2/"}).files.size(), 1u);
  EXPECT_EQ(kind_of({"https://h/list.txt"}), FailureKind::unavailable);
  told.tell = [](Inquiry&) { return Listing{}; };
  EXPECT_EQ(kind_of({"https://h/"}), FailureKind::unavailable);
}

TEST_F(Resolve, StopsWhenItIsAsked) {
  told.tell = [&](Inquiry& inquiry) {
    bench.stop.request_stop();
    inquiry.attempt(Url::parse("https://h/"), [](Traffic&) { throw Error(FailureKind::network, "x"); });
    return Listing{};
  };
  EXPECT_EQ(kind_of({"https://h/"}), FailureKind::interrupted);
}

TEST(CheckListing, RefusesNamesAndSourcesThatMayNotBe) {
  const Url from = Url::parse("https://h/");
  const auto refused = [&](const std::vector<ListedFile>& files) {
    try {
      check_listing(files, from);
    } catch (const Error& error) {
      return error.failure().kind == FailureKind::invalid;
    }
    return false;
  };
  EXPECT_FALSE(refused({file("a", "https://h/a"), file("b/c", "ftp://i/b"), file("b/d", "http://i/b")}));
  EXPECT_TRUE(refused({file("a", "https://h/a"), file("a", "https://h/b")}));
  EXPECT_TRUE(refused({file("a/b/c", "https://h/a"), file("a", "https://h/b")}));
  EXPECT_TRUE(refused({file("a", "file:///etc/passwd")}));
  EXPECT_TRUE(refused({file("a", "s3://bucket/a")})) << "it would be asked with this user's keys";
  EXPECT_TRUE(refused({file("a", "sftp://h/a")}));
  EXPECT_TRUE(refused({{RelativePath::parse("a"), {}, {}, {}}}));
}

TEST(LfsPointer, IsTheOneText) {
  const std::string oid(64, 'c');
  const std::string text = "version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize 12\n";
  const auto pointer = try_parse_lfs_pointer(text);
  ASSERT_TRUE(pointer);
  EXPECT_EQ(pointer->size_bytes, 12u);
  EXPECT_TRUE(
      try_parse_lfs_pointer("version https://git-lfs.github.com/spec/v1\next-0-x sha256:1\n" + text.substr(43)));
  for (std::string bad :
       {std::string(), text.substr(1), text.substr(0, 60), "x" + text, text.substr(0, 43) + text.substr(43 + 77)})
    EXPECT_FALSE(try_parse_lfs_pointer(bad)) << bad;
  EXPECT_FALSE(try_parse_lfs_pointer(text + std::string(1024, ' ')));
  const auto url = [&](const char* origin) {
    const auto found = try_lfs_url(origin, *pointer);
    return found ? found->text() : "none";
  };
  const std::string tail = ".git/info/lfs/" + oid + "?size=12";
  EXPECT_EQ(url("https://h/o/r"), "lfs+https://h/o/r" + tail);
  EXPECT_EQ(url("http://h/o/r.git/"), "lfs+http://h/o/r" + tail);
  EXPECT_EQ(url("ssh://git@h:22/o/r.git"), "lfs+https://h/o/r" + tail);
  EXPECT_EQ(url("file:///o/r"), "none");
  EXPECT_EQ(url("git://h/o/r"), "none");
}

}  // namespace
}  // namespace sabath::test
