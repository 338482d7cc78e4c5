// The bytes that a fetch moves, the trust in them, and their entry in the record.
#include "sabath/session.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "archive_maker.h"
#include "site.h"
#include "support/fault_server.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
using Json = Site::Json;
using Tree = std::map<std::string, std::string>;

TEST(Session, FilesArchivesAndListsInOneView) {
  Site site;
  const std::string tar = archive_of({{.name = "d/x.sh", .content = "#!", .mode = 0755},
                                      {.name = "d/y", .content = "y"},
                                      {.name = "l", .type = '2', .link = "d/y"}},
                                     "pax", "gzip");
  (void)site.serve("list/one.dat", "1");
  (void)site.serve("list/two.dat", "22");
  site.dataset("all", {file_fragment("f", "top.bin", {site.serve("f", "file")}),
                       {{"id", "a"}, {"type", "archive"}, {"path", "arch"}, {"urls", {site.serve("a.tgz", tar)}}},
                       {{"id", "l"},
                        {"type", "file_list"},
                        {"path", "many"},
                        {"urls", {site.serve("list/files.txt", "one.dat\n# two\ntwo.dat\n")}}}});
  const auto record = site.fetch("all");
  ASSERT_EQ(record.exit, 0) << record.assets.front().failures.front().failure.message;
  const AssetRecord& asset = record.assets.front();
  const Tree expected = {{"top.bin", "f:file"},
                         {"arch", "d"},
                         {"arch/d", "d"},
                         {"arch/d/x.sh", "x:#!"},
                         {"arch/d/y", "f:y"},
                         {"arch/l", "l:d/y"},
                         {"many", "d"},
                         {"many/one.dat", "f:1"},
                         {"many/two.dat", "f:22"},
                         {"many/files.txt", "f:one.dat\n# two\ntwo.dat\n"}};
  EXPECT_EQ(tree_at(asset.path), expected);
  EXPECT_EQ(asset.files, 6U);
  EXPECT_EQ(asset.trusted_by, "first use");
  EXPECT_EQ(asset.reused_bytes(), 0U);
  EXPECT_TRUE(asset.manifest.starts_with("sha256:"));
  EXPECT_EQ(site.open().path("all"), asset.path);

  const auto again = site.fetch("all");
  EXPECT_EQ(again.exit, 0);
  EXPECT_EQ(again.assets.front().path, asset.path);
  EXPECT_EQ(again.assets.front().fetched_bytes, 0U);
  EXPECT_TRUE(again.assets.front().sources.empty()) << "nobody was asked";
  EXPECT_EQ(again.assets.front().reused, (ReusedBytes{asset.bytes, 0, 0, 0}));
}

TEST(Session, EachFragmentIsRememberedWithItsOwnTrust) {
  Site site;
  site.dataset("d", {file_fragment("a", "a", {site.serve("a", "a")}),
                     with_checksum(file_fragment("b", "b", {site.serve("b", "b")}), "b")});
  ASSERT_EQ(site.fetch("d").exit, 0);
  std::map<std::string, std::string> trusted_by;  // by the source's last letter; the asset's own ref is its first's
  for (const auto& entry : fs::recursive_directory_iterator(site / "store/refs")) {
    if (entry.is_directory()) continue;
    std::ifstream file(entry.path());
    std::string name;  // the note's first line
    std::getline(file, name);
    const Json ref = Json::parse(file);
    EXPECT_GT(ref.at("time").get<std::int64_t>(), 1'700'000'000);
    trusted_by[ref.at("source").get<std::string>().substr(ref.at("source").get<std::string>().size() - 1)] =
        ref.at("trusted_by");
  }
  EXPECT_EQ(trusted_by, (Tree{{"a", "first use"}, {"b", "checksum"}}));
}

TEST(Session, TheRecordCountsWhatTheServerSent) {
  Site site;
  const FaultServer server;
  const std::string bytes = seeded_bytes(7, 0, 4'000'000);
  site.dataset("web", {with_checksum(file_fragment("f", "f.bin", {server.url("/ok/web?size=4000000&seed=7")}), bytes)});
  const auto record = site.fetch("web");
  ASSERT_EQ(record.exit, 0);
  const AssetRecord& asset = record.assets.front();
  EXPECT_EQ(asset.fetched_bytes, bytes.size());
  ASSERT_EQ(asset.sources.size(), 1U);
  EXPECT_EQ(asset.sources[0].url, server.url("/ok/web")) << "without its query";
  EXPECT_EQ(asset.sources[0].requests, server.count("/ok/web").requests);
  EXPECT_EQ(asset.sources[0].bytes, server.count("/ok/web").body_bytes);
  EXPECT_EQ(asset.trusted_by, "checksum");
  EXPECT_EQ(tree_at(asset.path).at("f.bin"), "f:" + bytes);
}

TEST(Session, TheSecondMirrorHasWhatTheFirstBreaksOff) {
  Site site;
  const FaultServer server;
  const std::string bytes = seeded_bytes(1, 0, 9'000'000);
  site.dataset(
      "m",
      {with_checksum(
          file_fragment("f", "f.bin", {server.url("/status/404?m"), server.url("/ok/m?size=9000000&seed=1")}), bytes)});
  const auto record = site.fetch("m");
  ASSERT_EQ(record.exit, 0);
  EXPECT_GE(record.assets[0].sources[0].failures, 1U);
  EXPECT_NE(record.assets[0].sources[0].reason.find("404"), std::string::npos);
}

TEST(Session, FailuresGiveTheirCodes) {
  const FaultServer server;
  struct Case {
    const char* target;
    int exit;
  };
  for (const auto& [target, exit] : {Case{"/status/403", 4}, Case{"/status/404", 6}, Case{"/html", 4},
                                     Case{"/ok?size=99", 7}, Case{"/flip?size=100&every=10", 7}}) {
    Site site;
    site.dataset("f", {with_checksum(file_fragment("f", "f.bin", {server.url(target)}), seeded_bytes(0, 0, 100))});
    const auto record = site.fetch("f");
    EXPECT_EQ(record.exit, exit) << target;
    ASSERT_EQ(record.assets[0].failures.size(), 1U) << target;
    EXPECT_EQ(record.assets[0].failures[0].path, "f.bin");
    EXPECT_TRUE(record.assets[0].path.empty());
    EXPECT_THROW((void)site.open().path("f"), Error);
  }
}

TEST(Session, SomeFilesFailedForDifferentReasons) {
  Site site;
  const FaultServer server;
  site.dataset("mixed",
               {file_fragment("a", "a", {site.serve("a", "a")}), file_fragment("b", "b", {server.url("/status/404")}),
                file_fragment("c", "c", {server.url("/status/403")})});
  const auto record = site.fetch("mixed");
  EXPECT_EQ(record.exit, 8);
  EXPECT_EQ(record.assets[0].files, 1U);
  EXPECT_EQ(record.assets[0].failures.size(), 2U);

  site.dataset("mixed",
               {file_fragment("a", "a", {site.serve("a", "a")}), file_fragment("b", "b", {site.serve("b", "b")}),
                file_fragment("c", "c", {site.serve("c", "c")})});
  const auto second = site.fetch("mixed");
  EXPECT_EQ(second.exit, 0);
  EXPECT_EQ(second.assets[0].fetched_bytes, 2U) << "what was had is not asked for again";
}

TEST(Session, AHostileArchiveLeavesNothingBehind) {
  Site site;
  const auto url =
      site.serve("a.tar", tar_of({{.name = "fine", .content = "fine"}, {.name = "../evil", .content = "x"}}));
  site.dataset("a", {archive_fragment("a", {url})});
  const auto record = site.fetch("a");
  EXPECT_EQ(record.exit, 12);
  EXPECT_FALSE(fs::exists(site / "evil"));
  EXPECT_TRUE(!fs::exists(site / "store/objects") || fs::is_empty(site / "store/objects"));
}

TEST(Session, AnArchiveFromALyingMirrorIsUnpackedFromTheOther) {
  Site site;
  const std::string tar = archive_of({{.name = "x", .content = seeded_bytes(1, 0, 6'000'000)}}, "pax", "gzip");
  std::string lie = tar;
  lie[1000] ^= 0x7f;
  site.dataset("a",
               {with_checksum(archive_fragment("a", {site.serve("lie.tgz", lie), site.serve("a.tgz", tar)}), tar)});
  const auto record = site.fetch("a");
  ASSERT_EQ(record.exit, 0) << record.assets[0].failures[0].failure.message;
  EXPECT_EQ(tree_at(record.assets[0].path).at("x"), "f:" + seeded_bytes(1, 0, 6'000'000));
  EXPECT_TRUE(record.assets[0].sources[0].demoted);
  EXPECT_FALSE(record.assets[0].sources[1].demoted);
}

// --- offline, dry, forced, refreshed -------------------------------------------------------------------------------

TEST(Session, OfflineOpensNoSocket) {
  const FaultServer server;
  Site site;
  const auto web = file_fragment("f", "f", {server.url("/ok/offline?size=1000")});
  site.dataset("d", {web});
  site.dataset("two", {file_fragment("a", "a", {server.url("/ok/offline?size=10")}), web});
  site.settings.offline = true;
  EXPECT_EQ(site.fetch("d").exit, 9);
  write_file(site / "a", std::string(10, 'a'));
  EXPECT_EQ(site.fetch([&](FetchRequest& r) {
                  r.datasets = {"two"};
                  r.local_paths = {site / "a"};
                })
                .exit,
            9)
      << "f is neither local nor here";
  EXPECT_EQ(server.total().requests, 0U);

  site.settings.offline = false;
  EXPECT_EQ(site.fetch("d").exit, 0);
  const auto asked = server.total().requests;
  site.settings.offline = true;
  EXPECT_EQ(site.fetch("d").exit, 0) << "it is here now";
  EXPECT_EQ(server.total().requests, asked);
}

TEST(Session, ADryRunTouchesNothing) {
  Site site;
  site.dataset("d", {with_checksum(file_fragment("f", "f", {site.serve("f", "1234")}), "1234")});
  auto record = site.fetch([&](FetchRequest& r) {
    r.names = {"d"};
    r.dry_run = true;
  });
  EXPECT_EQ(record.assets[0].to_fetch_bytes, 4U);
  EXPECT_FALSE(fs::exists(site.settings.store));
  EXPECT_EQ(site.fetch("d").exit, 0);
  record = site.fetch([&](FetchRequest& r) {
    r.names = {"d"};
    r.dry_run = true;
  });
  EXPECT_EQ(record.assets[0].to_fetch_bytes, 0U);
  EXPECT_EQ(record.assets[0].reused_bytes(), 4U);
}

TEST(Session, RefreshAsksAndTakesWhatChanged) {
  Site site;
  site.dataset("d", {file_fragment("f", "f", {site.serve("f", "one")})});
  const auto first = site.fetch("d");
  ASSERT_EQ(first.exit, 0);
  const auto same = site.fetch([&](FetchRequest& r) {
    r.names = {"d"};
    r.refresh = true;
  });
  EXPECT_EQ(same.exit, 0);
  EXPECT_EQ(same.assets[0].manifest, first.assets[0].manifest);
  EXPECT_EQ(same.assets[0].fetched_bytes, 0U) << "its validators said enough";
  (void)site.serve("f", "two, longer");
  EXPECT_EQ(site.fetch("d").assets[0].manifest, first.assets[0].manifest) << "nobody is asked without --refresh";
  const auto other = site.fetch([&](FetchRequest& r) {
    r.names = {"d"};
    r.refresh = true;
  });
  EXPECT_EQ(other.exit, 0);
  EXPECT_EQ(tree_at(other.assets[0].path).at("f"), "f:two, longer");
  EXPECT_EQ(site.fetch("d").assets[0].manifest, other.assets[0].manifest);
}

TEST(Session, ForceFetchesAgain) {
  Site site;
  site.dataset("d", {file_fragment("f", "f", {site.serve("f", "one")})});
  ASSERT_EQ(site.fetch("d").exit, 0);
  const auto record = site.fetch([&](FetchRequest& r) {
    r.names = {"d"};
    r.force = true;
  });
  EXPECT_EQ(record.exit, 0);
  EXPECT_EQ(record.assets[0].fetched_bytes, 3U);
}

TEST(Session, LostObjectsAreMendedByTheNextFetch) {
  Site site;
  const std::string big = seeded_bytes(1, 0, 9'000'000);
  site.dataset("d",
               {file_fragment("a", "a", {site.serve("a", big)}), file_fragment("b", "b", {site.serve("b", "small")})});
  const auto first = site.fetch("d");
  ASSERT_EQ(first.exit, 0);
  fs::remove_all(site / "store/objects");
  fs::remove_all(site / "store/views");
  EXPECT_THROW((void)site.open().path("d"), Error);
  const auto second = site.fetch("d");
  ASSERT_EQ(second.exit, 0) << second.assets[0].failures[0].failure.message;
  EXPECT_EQ(second.assets[0].manifest, first.assets[0].manifest);
  EXPECT_EQ(tree_at(second.assets[0].path).at("a"), "f:" + big);
}

// --- pins and rewrites ---------------------------------------------------------------------------------------------

TEST(Session, APinDecides) {
  Site learnt;
  learnt.dataset("d", {file_fragment("f", "f", {learnt.serve("f", "content")})});
  const auto root = learnt.fetch("d").assets[0].manifest;

  Site site;
  const auto right = site.serve("right", "content"), wrong = site.serve("wrong", "CONTENT");
  site.dataset("d", {file_fragment("f", "f", {right})}, {{"manifest", {{"digest", root}}}});
  const auto record = site.fetch("d");
  EXPECT_EQ(record.exit, 0);
  EXPECT_EQ(record.assets[0].trusted_by, "pinned");
  EXPECT_EQ(record.assets[0].manifest, root);

  Site other;
  other.dataset("d", {file_fragment("f", "f", {wrong})}, {{"manifest", {{"digest", root}}}});
  EXPECT_EQ(other.fetch("d").exit, 7);
  EXPECT_THROW((void)other.open().path("d"), Error);
}

TEST(Session, APinnedManifestIsHadFromAnyUrlThatHasIt) {
  Site learnt;
  const std::string big = seeded_bytes(1, 0, 13'000'000);
  learnt.dataset("d", {file_fragment("f", "f", {learnt.serve("f", big)})});
  const auto first = learnt.fetch("d").assets[0];
  const std::string hex = first.manifest.substr(7);
  const auto manifest = "file://" + (learnt / ("store/manifests/" + hex.substr(0, 2) + "/" + hex.substr(2))).string();

  Site site;
  std::string lie = big;
  lie[5'000'000] ^= 1;
  const Json pin = {{"manifest", {{"digest", first.manifest}, {"urls", {site.serve("bad", "no manifest"), manifest}}}}};
  site.dataset("d", {file_fragment("f", "f", {site.serve("lie", lie), learnt.serve("f", big)})}, pin);
  const auto record = site.fetch("d");
  ASSERT_EQ(record.exit, 0) << record.assets[0].failures[0].failure.message;
  EXPECT_EQ(tree_at(record.assets[0].path).at("f"), "f:" + big);

  Site by_file;
  by_file.dataset("d", {file_fragment("f", "f", {learnt.serve("f", big)})});
  const auto path = manifest.substr(7);
  EXPECT_EQ(by_file
                .fetch([&](FetchRequest& r) {
                  r.names = {"d"};
                  r.manifest = path;
                })
                .exit,
            0);
  EXPECT_EQ(by_file
                .fetch([&](FetchRequest& r) {
                  r.names = {"d"};
                  r.manifest = "/no/such/file";
                })
                .exit,
            2);
}

TEST(Session, RewritesLeadToALocalMirror) {
  Site site;
  (void)site.serve("mirror/f", "content");
  site.dataset("d", {file_fragment("f", "f", {"https://data.invalid/set/f"})});
  site.settings.rewrites = {{"https://data.invalid/set/", "file://" + (site / "served/mirror/").string()}};
  EXPECT_EQ(site.fetch("d").exit, 0);
}

TEST(Session, AStopRequestEndsItAndTheRestIsLeft) {
  Site site;
  const FaultServer server;
  site.dataset("slow", {file_fragment("f", "f", {server.url("/slow/s?size=100000&ms=50")})});
  site.dataset("next", {file_fragment("f", "f", {site.serve("f", "f")})});
  site.stop.request_stop();
  const auto record = site.fetch([&](FetchRequest& r) { r.names = {"slow", "next"}; });
  EXPECT_EQ(record.exit, 130);
  EXPECT_EQ(record.assets.size(), 1U) << "the next was not begun";
}

}  // namespace
}  // namespace sabath::test
