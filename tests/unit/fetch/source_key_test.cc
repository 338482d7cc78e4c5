// Names of sources are on disk: a change of these values makes every store forget what it learnt.
#include "fetch/hosts/source_key.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <set>

#include "base/hash.h"

namespace sabath {
namespace {

Fragment fragment() {
  Fragment fragment;
  fragment.id = "main";
  fragment.type = FragmentType::archive;
  fragment.path = RelativePath::parse("train/data");
  fragment.urls = {Url::parse("https://a.example/f.tar"), Url::parse("https://b.example/f.tar")};
  fragment.size_bytes = 123;
  fragment.limit = 7;
  fragment.checksum.sha256 = std::string(64, 'a');
  return fragment;
}

FileJob job() {
  FileJob job;
  job.name = "f";
  job.urls = {Url::parse("https://a.example/f?x=1"), Url::parse("https://b.example/f")};
  job.size_bytes = 123;
  job.checksum.md5 = std::string(32, 'b');
  return job;
}

GitSource git() {
  GitSource git;
  git.origin = "https://git.example/r";
  git.tag = "v1";
  return git;
}

TEST(SourceKey, Golden) {
  Recipe recipe;
  recipe.name = "r";
  recipe.fragments = {fragment()};
  recipe.git = git();
  EXPECT_EQ(source_key(job()).hex(), "5d2c1a503d225fdd8877a5d556d5184a7e62606a3735d4f1b1ea168245ee88be");
  EXPECT_EQ(source_key(fragment(), {}).hex(), "31a271918674fe738615b42d7df7bc36c5c0707db22c64974cd6bac7232da220");
  EXPECT_EQ(source_key(git()).hex(), "d082b20f75a07fc3f64b116a161e3a2b4c8924392875b219f21d1e7ee6646f9a");
  EXPECT_EQ(source_key(recipe, {}).hex(), "89f2b209a5bba97417926197ceac8131b018daa60070a441ebe964e1b85b75b2");
}

TEST(SourceKey, WhatIsAskedForDecidesAndNothingElse) {
  Fragment same = fragment();
  same.id = "other";
  same.urls.pop_back();  // a mirror has the same bytes
  EXPECT_EQ(source_key(same, {}), source_key(fragment(), {}));
  FileJob same_job = job();
  same_job.name = "g";
  same_job.urls.pop_back();
  same_job.listed = true;
  same_job.source = same_job.urls.front();
  same_job.urls.front() = Url::parse("http://127.0.0.1:8000/f");  // by a rewrite rule
  EXPECT_EQ(source_key(same_job), source_key(job()));

  std::set<Sha256> keys = {source_key(fragment(), {}), source_key(job()), source_key(git())};
  const auto differs = [&](const auto& change) {
    Fragment other = fragment();
    change(other);
    EXPECT_TRUE(keys.insert(source_key(other, {})).second);
  };
  differs([](Fragment& f) { f.urls.front() = Url::parse("https://a.example/f.tar?v=2"); });
  differs([](Fragment& f) { f.type = FragmentType::file; });
  differs([](Fragment& f) { f.path.reset(); });
  differs([](Fragment& f) { f.path = RelativePath::parse("train"); });
  differs([](Fragment& f) { f.size_bytes.reset(); });
  differs([](Fragment& f) { f.size_bytes = 0; });
  differs([](Fragment& f) { f.limit.reset(); });
  differs([](Fragment& f) { f.checksum.sha256.clear(); });
  differs([](Fragment& f) { f.checksum.md5 = std::string(32, 'a'); });
  differs([](Fragment& f) { f.checksum.sha512 = std::string(128, 'a'); });
}

// Bytes without a proof belong to all their possible sources, as this user asks them, and to the one that gave them.
TEST(SourceKey, WithoutAChecksumEachMirrorCounts) {
  Fragment free = fragment(), alone = fragment();
  for (Fragment* each : {&free, &alone}) each->checksum = {};
  alone.urls.pop_back();
  EXPECT_NE(source_key(free, {}), source_key(alone, {}));
  EXPECT_EQ(given_key(free, 0, {}), given_key(alone, 0, {}));
  EXPECT_EQ(given_key(free, 0, {}), given_key(fragment(), 0, {})) << "whatever a recipe states";
  EXPECT_NE(given_key(free, 0, {}), given_key(free, 1, {}));
  const SourceNames here([](const Url& url) { return url.text() + " at here"; });
  EXPECT_NE(source_key(alone, here), source_key(alone, {}));
  EXPECT_NE(given_key(alone, 0, here), given_key(alone, 0, {}));
  EXPECT_EQ(source_key(fragment(), here), source_key(fragment(), {}))
      << "a checksum proves the bytes, whoever gave them";
  Recipe recipe;
  recipe.fragments = {alone};
  EXPECT_NE(source_key(recipe, {}), earlier_key(recipe)) << "SABATH 0.1 named what any mirror gave by the first one";
  EXPECT_NE(source_key(recipe, here), source_key(recipe, {}));
  EXPECT_NE(said_key(recipe), earlier_key(recipe));
  recipe.fragments = {fragment()};
  EXPECT_EQ(source_key(recipe, here), earlier_key(recipe)) << "whoever gave it";

  FileJob job_free = job();
  job_free.checksum = {};
  FileJob job_alone = job_free;
  job_alone.urls.pop_back();
  EXPECT_NE(source_key(job_free), source_key(job_alone));
  EXPECT_EQ(given_key(job_free, 0), given_key(job_alone, 0));
  job_alone.size_bytes.reset();
  EXPECT_EQ(given_key(job_free, 0), source_key(job_alone)) << "one note says both";
  EXPECT_EQ(giver_of(job_free, {{}, given_key(job_free, 1).hex()}), 1U);
  EXPECT_EQ(giver_of(job_alone, {{}, given_key(job_free, 1).hex()}), std::nullopt);
  EXPECT_EQ(giver_of(job_free, {}), std::nullopt) << "nobody has said it, and there are two";
  job_alone.names = {"f at here"};
  EXPECT_NE(given_key(job_free, 0), given_key(job_alone, 0));
}

// A rule may lead what a list names elsewhere, and the list's own URL not.
TEST(SourceKey, AListBelongsToAllSettings) {
  const auto plain = [](const Url& url) { return url.text(); };
  const SourceNames none(plain), one(plain, "1"), two(plain, "2");
  Fragment each = fragment();
  for (const bool proven : {false, true}) {
    if (!proven) each.checksum = {};
    if (proven) each.checksum.sha256 = std::string(64, 'a');
    each.type = FragmentType::file_list;
    EXPECT_EQ(source_key(each, none), source_key(each, {}));
    EXPECT_EQ(given_key(each, 1, none), given_key(each, 1, {}));
    for (const auto& [a, b] : {std::pair(&none, &one), std::pair(&one, &two)}) {
      EXPECT_NE(source_key(each, *a), source_key(each, *b));
      EXPECT_NE(given_key(each, 1, *a), given_key(each, 1, *b));
    }
    each.type = FragmentType::file;
    EXPECT_EQ(source_key(each, none), source_key(each, two));
    EXPECT_EQ(given_key(each, 1, none), given_key(each, 1, two));
  }
}

TEST(SourceKey, ARecipeIsItsFragmentsInTheirOrder) {
  Recipe one, two;
  Fragment other = fragment();
  other.limit = 8;
  one.fragments = {fragment(), other};
  two.fragments = {other, fragment()};
  EXPECT_NE(source_key(one, {}), source_key(two, {}));
  two = one;
  two.name = "renamed";
  two.version = "2";
  EXPECT_EQ(source_key(one, {}), source_key(two, {}));
  two.git = git();
  EXPECT_NE(source_key(one, {}), source_key(two, {}));
}

// It is written without a JSON tree, and is to be what one dumps.
TEST(SourceKey, AFileIsKeyedByCanonicalJson) {
  for (const bool part : {false, true}) {
    FileJob free;
    free.urls = {Url::parse("https://a.example/f"), Url::parse("https://b.example/f")};
    if (part) free.offset = 512, free.version = {"e", "m"};
    nlohmann::json word = {{"sources", {"https://a.example/f", "https://b.example/f"}},
                           {"size", nullptr},
                           {"checksum", {{"md5", ""}, {"sha1", ""}, {"sha256", ""}}}};
    if (part) word["offset"] = 512, word["version"] = {"e", "m"};
    EXPECT_EQ(source_key(free), sha256("file\n" + word.dump()));
    word["sources"] = {"https://b.example/f"};
    EXPECT_EQ(given_key(free, 1), sha256("file\n" + word.dump()));
    FileJob each = job();
    each.urls = {Url::parse("https://a.example/%C3%BC%20b?x=1&y=%22")};
    each.checksum.sha256 = std::string(64, 'c');
    if (!part) each.size_bytes.reset();
    if (part) each.checksum.sha224 = each.checksum.sha384 = each.checksum.sha512 = "ab";
    nlohmann::json key = {{"url", each.urls.front().text()},
                          {"size", nullptr},
                          {"checksum", {{"md5", each.checksum.md5}, {"sha1", ""}, {"sha256", each.checksum.sha256}}}};
    if (part) {
      for (const char* name : {"sha224", "sha384", "sha512"}) key["checksum"][name] = "ab";
      each.offset = 512;
      each.version = {"\"e\\tag\"", "Sun, 06 Nov 1994 08:49:37 GMT"};
      key["size"] = 123;
      key["offset"] = 512;
      key["version"] = {each.version.etag, each.version.last_modified};
    }
    EXPECT_EQ(source_key(each), sha256("file\n" + key.dump()));
  }
}

}  // namespace
}  // namespace sabath
