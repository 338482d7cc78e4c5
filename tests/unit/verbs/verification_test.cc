#include "sabath/verbs/verify.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "ask.h"
#include "site.h"
#include "support/seeded.h"
#include "support/thread_comm.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
using Json = Site::Json;

// An asset of one file of three chunks, in the store.
class Verification : public ::testing::Test {
 protected:
  Verification() {
    site.dataset("climate", {file_fragment("f", "data", {site.serve("f", bytes)})});
    EXPECT_EQ(site.fetch("climate").exit, 0);
  }
  // Its second chunk becomes wrong, without a sign of it.
  void damage() const {
    for (const auto& entry : fs::recursive_directory_iterator(site.settings.store / "objects")) {
      if (!entry.is_regular_file() || entry.file_size() != bytes.size()) continue;
      fs::permissions(entry.path(), fs::perms::owner_write, fs::perm_options::add);
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(chunk_size_bytes + 5));
      file.put(static_cast<char>(~bytes[chunk_size_bytes + 5]));
      return;
    }
    FAIL() << "the object was not found";
  }
  const std::string bytes = seeded_bytes(1, 0, 9'000'000);
  Site site;
  Session session = site.open();
  NoEvents unheard;
};

TEST_F(Verification, WhatIsRightIsRead) {
  const VerificationRecord one = verify(session, {.names = {"climate"}}, unheard);
  EXPECT_EQ(one.exit, 0);
  ASSERT_EQ(one.assets.size(), 1U);
  EXPECT_EQ(one.assets[0].bytes_read, bytes.size());
  EXPECT_TRUE(one.assets[0].manifest.starts_with("sha256:"));
  EXPECT_EQ(ask(session, "verify", {{"names", {"climate"}}, {"threads", 2}, {"limit_rate", "1G"}}), to_json(one));
  const VerificationRecord all = verify(session, {}, unheard);
  EXPECT_EQ(all.assets.at(0).name, "");
  EXPECT_EQ(ask(session, "verify", Json::object()), to_json(all));

  const VerificationRecord late = verify(session, {.within = std::chrono::hours(1)}, unheard);
  EXPECT_GE(late.assets.at(0).remembered, 1U);
  EXPECT_LT(late.assets.at(0).bytes_read, bytes.size());
  EXPECT_EQ(ask(session, "verify", {{"within", 3600}}), to_json(late));
}

TEST_F(Verification, WhatIsBadIsNamedAndMended) {
  damage();
  const VerificationRecord found = verify(session, {.names = {"climate"}}, unheard);
  EXPECT_EQ(found.exit, exit_code(FailureKind::content));
  ASSERT_GE(found.assets.at(0).bad.size(), 1U);
  const VerifyFinding& bad = found.assets[0].bad[0];
  EXPECT_EQ(bad.path, "data");
  EXPECT_EQ(bad.chunk, 1U);
  EXPECT_EQ(bad.offset, chunk_size_bytes);
  EXPECT_EQ(bad.digest.size_bytes, bytes.size());
  EXPECT_FALSE(bad.mended);
  const VerificationRecord missing = verify(session, {.names = {"climate"}}, unheard);
  EXPECT_EQ(missing.exit, exit_code(FailureKind::offline)) << "it was put aside, and it was all";

  const VerificationRecord mended = verify(session, {.names = {"climate"}, .repair = true}, unheard);
  EXPECT_EQ(mended.exit, 0);
  ASSERT_EQ(mended.assets.at(0).repaired.size(), 1U);
  EXPECT_EQ(mended.assets[0].repaired[0].name, "climate");
  damage();
  const Json record = Json::parse(ask(session, "verify", {{"repair", true}}));
  EXPECT_EQ(record.at("exit"), 0);
  EXPECT_TRUE(record.at("assets").at(0).at("bad").at(0).at("mended").get<bool>());
  EXPECT_EQ(verify(session, {}, unheard).exit, 0);
}

TEST_F(Verification, RanksReadOneStoreAndEndAlike) {
  damage();
  ThreadRanks(2).run([&](Comm& comm) {
    Session of_rank(site.settings, &comm);
    NoEvents silent;
    const VerificationRecord record = verify(of_rank, {.names = {"climate"}}, silent);
    EXPECT_EQ(record.exit, exit_code(FailureKind::content)) << comm.rank();
    EXPECT_EQ(record.assets.size(), comm.rank() == 0 ? 1U : 0U);
  });
}

TEST_F(Verification, RecordsOfSeveralAreOne) {
  const auto both = [](int one, int other) {
    VerificationRecord record{{VerifiedAsset{}}, one};
    append(record, {{VerifiedAsset{}}, other});
    EXPECT_EQ(record.assets.size(), 2U);
    return record.exit;
  };
  EXPECT_EQ(both(0, 0), 0);
  EXPECT_EQ(both(0, 9), 9);
  EXPECT_EQ(both(9, 0), 9);
  EXPECT_EQ(both(9, 8), 8);
  EXPECT_EQ(both(9, 7), 7);
  EXPECT_EQ(both(7, 9), 7);
}

TEST_F(Verification, RequestsThatMakeNoSenseAreRefused) {
  for (const Json& request : {Json{{"name", "climate"}}, Json{{"threads", 1025}}, Json{{"within", "7d"}},
                              Json{{"within", 18446744073709551615ULL}}, Json{{"quick", 1}}}) {
    EXPECT_EQ(refusal(session, "verify", request).kind, FailureKind::usage) << request;
  }
  EXPECT_EQ(refusal(session, "verify", {{"names", {"fog"}}}).kind, FailureKind::not_found);
  SessionSettings elsewhere = site.settings;
  elsewhere.store = site / "nowhere";
  Session empty(elsewhere);
  EXPECT_EQ(refusal(empty, "verify", Json::object()).kind, FailureKind::offline);
}

}  // namespace
}  // namespace sabath::test
