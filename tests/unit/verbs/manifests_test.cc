#include "sabath/verbs/manifest.h"

#include <gtest/gtest.h>

#include <fstream>

#include "ask.h"
#include "site.h"
#include "verbs/manifests/manifest_entries.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;

// A directory with a file of two chunks, a program, an empty directory and a symlink; and a Session over an empty
// store.
class Manifests : public ::testing::Test {
 protected:
  Manifests() {
    fs::create_directories(data / "empty");
    write("big", std::string(chunk_size_bytes + 1, 'b'));
    write("run", "#!/bin/sh\n");
    fs::permissions(data / "run", fs::perms::owner_all);
    fs::create_symlink("big", data / "link");
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(data / name) << text; }
  ManifestCreateRecord create(const std::string& name) {
    return manifest_create(session, {.path = data, .output = site / name}, unheard);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return site / name; }

  Site site;
  fs::path data = site / "data";
  Session session = site.open();
  NoEvents unheard;
};

TEST_F(Manifests, AreCreatedAndShown) {
  const ManifestCreateRecord made = create("a.manifest");
  EXPECT_EQ(made.totals.files, 2U);
  EXPECT_EQ(made.totals.bytes, chunk_size_bytes + 1 + 10);
  EXPECT_EQ(ask(session, "manifest create", {{"path", data}, {"output", file("a.manifest")}, {"threads", 2}}),
            to_json(made));

  const ManifestShowRecord shown = manifest_show(session, {file("a.manifest"), true, {}}, unheard);
  EXPECT_EQ(shown.manifest, made.manifest);
  ASSERT_EQ(shown.entries.size(), 4U);
  EXPECT_EQ(shown.entries[0].path, "big");
  EXPECT_EQ(shown.entries[0].chunks->size(), 2U);
  EXPECT_EQ(shown.entries[1].type, "directory");
  EXPECT_FALSE(shown.entries[1].chunks);
  EXPECT_EQ(shown.entries[2].target, "big");
  EXPECT_FALSE(shown.entries[2].digest);
  EXPECT_EQ(shown.entries[3].type, "executable");
  EXPECT_EQ(ask(session, "manifest show", {{"manifest", file("a.manifest")}, {"chunks", true}}), to_json(shown));
}

TEST_F(Manifests, AreToldEntryByEntry) {
  const Sha256 root = create("a.manifest").manifest;
  std::vector<std::string> paths;
  const auto on_entry = [&](const ManifestShowRecord& head, const ManifestEntry& entry) {
    EXPECT_EQ(head.manifest, root);
    EXPECT_EQ(head.totals.files, 2U);
    paths.push_back(entry.path);
  };
  EXPECT_TRUE(manifest_show(session, {file("a.manifest"), false, on_entry}, unheard).entries.empty());
  EXPECT_EQ(paths, (std::vector<std::string>{"big", "empty", "link", "run"}));
}

TEST_F(Manifests, AreToldInOneRecordUpToABound) {
  ManifestTotals totals{.files = entries_in_record_max - 5, .directories = 3, .symlinks = 2, .bytes = 0};
  EXPECT_NO_THROW(check_fits_record(totals, false));
  EXPECT_THROW(check_fits_record(totals, true), Error);
  ++totals.files;
  EXPECT_THROW(check_fits_record(totals, false), Error);
  totals = {.files = 1, .directories = 0, .symlinks = 0, .bytes = entries_in_record_max * chunk_size_bytes};
  EXPECT_NO_THROW(check_fits_record(totals, false));
  EXPECT_THROW(check_fits_record(totals, true), Error);
}

TEST_F(Manifests, DifferByWhatWasChanged) {
  create("a.manifest");
  write("new", "");
  write("run", "#!/bin/bash\n");
  fs::remove(data / "link");
  create("b.manifest");
  const ManifestDiffRecord record = manifest_diff(session, {file("a.manifest"), file("b.manifest"), true, {}}, unheard);
  EXPECT_EQ(record.exit, exit_code(FailureKind::content));
  std::vector<std::string> kinds;
  for (const auto& difference : record.differences) kinds.push_back(difference.kind);
  EXPECT_EQ(kinds, (std::vector<std::string>{"removed", "added", "changed"}));
  EXPECT_EQ(record.differences[2].after->size, 12U);
  Site::Json request{{"before", file("a.manifest")}, {"after", file("b.manifest")}, {"exit_code", true}};
  EXPECT_EQ(ask(session, "manifest diff", request), to_json(record));
  request["after"] = request["before"];
  EXPECT_EQ(Site::Json::parse(ask(session, "manifest diff", request))["exit"], 0);
}

TEST_F(Manifests, NameTheBadChunk) {
  create("a.manifest");
  std::fstream(data / "big").seekp(chunk_size_bytes) << 'x';
  fs::remove(data / "run");
  write("new", "");
  const auto verify = [&](bool allow_extra) {
    return manifest_verify(session, {.manifest = file("a.manifest"), .path = data, .allow_extra = allow_extra},
                           unheard);
  };
  const ManifestVerifyRecord record = verify(true);
  EXPECT_EQ(record.exit, exit_code(FailureKind::content));
  ASSERT_EQ(record.bad.size(), 1U);
  EXPECT_EQ(record.bad[0].path, "big");
  EXPECT_EQ(record.bad[0].chunk, 1U);
  EXPECT_EQ(record.missing, std::vector<std::string>{"run"});
  EXPECT_EQ(record.extra, std::vector<std::string>{"new"});
  const Site::Json request{{"manifest", file("a.manifest")}, {"path", data}, {"allow_extra", true}};
  EXPECT_EQ(ask(session, "manifest verify", request), to_json(record));
  write("big", std::string(chunk_size_bytes + 1, 'b'));
  EXPECT_EQ(verify(true).exit, exit_code(FailureKind::partial));
  EXPECT_EQ(verify(false).exit, exit_code(FailureKind::content));
}

TEST_F(Manifests, AreExported) {
  site.dataset("clouds", {with_checksum(file_fragment("f", "a.bin", {site.serve("a", "abc")}), "abc")});
  ASSERT_EQ(site.fetch("clouds").exit, 0);
  const ManifestExportRequest request{.manifest = "clouds", .metalink = site / "a.meta4", .urls = {"https://a.test/"}};
  const ManifestExportRecord record = manifest_export(session, request, unheard);
  EXPECT_EQ(record.files, 1U);
  std::ifstream text(site / "a.meta4");
  EXPECT_NE(std::string(std::istreambuf_iterator<char>(text), {}).find("https://a.test/a.bin"), std::string::npos);
  const Site::Json wanted{{"manifest", "clouds"}, {"metalink", file("a.meta4")}, {"url", {"https://a.test/"}}};
  EXPECT_EQ(ask(session, "manifest export", wanted), to_json(record));
  (void)ask(session, "manifest export", {{"manifest", "clouds"}, {"bag", file("bag")}});
  EXPECT_TRUE(fs::exists(site / "bag/data/a.bin"));
}

TEST_F(Manifests, RefuseWhatMakesNoSense) {
  create("a.manifest");
  const std::string manifest = file("a.manifest");
  const std::pair<const char*, Site::Json> wrong[] = {
      {"manifest create", {{"path", data}}},
      {"manifest create", {{"path", data}, {"output", data}}},
      {"manifest create", {{"path", data}, {"output", file("x")}, {"threads", 5000}}},
      {"manifest show", {{"manifest", manifest}, {"chunk", true}}},
      {"manifest show", {{"manifest", manifest}, {"chunks", "yes"}}},
      {"manifest diff", {{"before", manifest}}},
      {"manifest verify", {{"manifest", manifest}}},
      {"manifest export", {{"manifest", manifest}}},
      {"manifest export", {{"manifest", manifest}, {"metalink", file("m")}, {"bag", file("b")}}},
      {"manifest export", {{"manifest", manifest}, {"metalink", file("m")}}},
      {"manifest export", {{"manifest", manifest}, {"metalink", file("m")}, {"url", {"https://a.test"}}}},
  };
  for (const auto& [verb, request] : wrong)
    EXPECT_EQ(refusal(session, verb, request).kind, FailureKind::usage) << verb << " " << request;
  EXPECT_EQ(refusal(session, "manifest show", {{"manifest", "nothing"}}).kind, FailureKind::not_found);
  EXPECT_THROW((void)manifest_create(session, {.path = data, .output = {}}, unheard), Error);
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_THROW((void)manifest_show(session, {manifest, false, {}}, unheard, stopped.get_token()), Error);
}

}  // namespace
}  // namespace sabath::test
