#include "sabath/verbs/export.h"
#include "sabath/verbs/import.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ask.h"
#include "base/file.h"
#include "fetch/archives/want_list.h"
#include "site.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
using Json = Site::Json;

// A machine with a network, whose store has an asset of two files, and one that has the recipe alone.
class Bundles : public ::testing::Test {
 protected:
  Bundles() {
    const std::vector<Json> fragments = {file_fragment("s", "small", {here.serve("s", "small")}),
                                         file_fragment("l", "large", {here.serve("l", large)})};
    here.dataset("climate", fragments);
    there.dataset("climate", fragments);
    EXPECT_EQ(here.fetch("climate").exit, 0);
  }
  const std::string large = seeded_bytes(1, 0, 9'000'000);
  Site here, there;
  Session session = here.open();
  const fs::path tar = here / "climate.tar";
  NoEvents unheard;
};

TEST_F(Bundles, AnAssetGoesToAnotherStoreByAFileOrADescriptor) {
  const ExportRecord written = export_bundle(session, {.names = {"climate"}, .output = tar}, unheard);
  ASSERT_EQ(written.assets.size(), 1U);
  EXPECT_EQ(written.bytes, large.size() + 5);
  EXPECT_EQ(ask(session, "export", {{"names", {"climate"}}, {"output", tar.string()}}), to_json(written));
  const fs::path piped = here / "piped.tar";
  {
    const Fd fd = open_file(piped, O_WRONLY | O_CREAT | O_EXCL);
    EXPECT_EQ(export_bundle(session, {.names = {"climate"}, .descriptor = fd.get()}, unheard).file, "");
  }
  EXPECT_EQ(*try_read_text(piped, 1 << 25), *try_read_text(tar, 1 << 25));

  Session other = there.open();
  const Fd fd = open_file(tar, O_RDONLY);
  const ImportRecord taken = import_bundle(other, {"", fd.get(), {"climate"}}, unheard);
  EXPECT_EQ(taken.exit, 0);
  EXPECT_EQ(taken.bundle_bytes, large.size() + 5);
  const auto held = there.fetch("climate").assets.front();
  EXPECT_EQ(held.fetched_bytes, 0U);
  EXPECT_EQ(held.trusted_by, "bundle");
  EXPECT_EQ(tree_at(held.path).at("large"), "f:" + large);
  there.settings.store = there / "third";
  Session third = there.open();
  ImportRecord same = taken;
  same.assets.at(0).path = there / "third/views" / taken.assets.at(0).path.filename();
  EXPECT_EQ(ask(third, "import", {{"file", tar.string()}, {"names", {"climate"}}}), to_json(same));
  EXPECT_EQ(there.fetch("climate").assets.front().trusted_by, "bundle");
}

TEST_F(Bundles, WhatALeanBundleLacksIsSaid) {
  const fs::path list = here / "have";
  const auto store = Store::open(here.settings.store, false);
  write_file(list, encode_want_list({WantList::Kind::have, {}, pieces_of(*store)}));
  const ExportRecord lean = export_bundle(session, {.names = {"climate"}, .output = tar, .have = list}, unheard);
  EXPECT_EQ(lean.bytes, 0U) << "the other side has it all, it says";
  Session other = there.open();
  const ImportRecord taken = import_bundle(other, {.file = tar}, unheard);
  EXPECT_EQ(taken.exit, exit_code(FailureKind::partial));
  ASSERT_EQ(taken.assets.size(), 1U);
  EXPECT_EQ(taken.assets[0].missing_files, 2U);
  EXPECT_EQ(ask(other, "import", {{"file", tar.string()}}), to_json(taken));
}

TEST_F(Bundles, WhatIsNoBundleAndWhatIsNoRequestAreRefused) {
  write_file(here / "noise", seeded_bytes(2, 0, 4096));
  EXPECT_EQ(refusal(session, "import", {{"file", (here / "noise").string()}}).kind, FailureKind::invalid);
  EXPECT_EQ(refusal(session, "export", {{"names", {"fog"}}, {"output", tar.string()}}).kind, FailureKind::not_found);
  for (const auto& [verb, request] : std::vector<std::pair<const char*, Json>>{
           {"export", {{"names", {"climate"}}}},
           {"export", {{"names", {"climate"}}, {"output", "-"}}},
           {"export", {{"output", tar.string()}}},
           {"export", {{"names", {"climate"}}, {"output", tar.string()}, {"want", "a"}, {"have", "b"}}},
           {"export", {{"output", tar.string()}, {"want", (here / "none").string()}}},
           {"import", Json::object()},
           {"import", {{"file", tar.string()}, {"name", "climate"}}}}) {
    EXPECT_EQ(refusal(session, verb, request).kind, FailureKind::usage) << verb << " " << request;
  }
  EXPECT_FALSE(fs::exists(tar)) << "a bundle gets its name when it is whole";
}

}  // namespace
}  // namespace sabath::test
