#include "fetch/transfer/trust.h"

#include <gtest/gtest.h>

#include <string_view>

namespace sabath {
namespace {

const Failure differs{FailureKind::content, "differs", "", std::nullopt};

Whole chunk_of(std::uint64_t chunk, std::set<std::size_t> givers) { return {chunk, nullptr, std::move(givers), 0}; }

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(Trust, OthersJoinTheFirstOnceTheyAgree) {
  Trust trust(true);
  trust.asked(0);
  trust.asked(1);
  EXPECT_TRUE(trust.leads(0));
  EXPECT_TRUE(trust.lead_is_open()) << "it has given nothing yet";
  EXPECT_TRUE(trust.wants_sample({0}));
  EXPECT_FALSE(trust.wants_sample({1})) << "not believed";
  EXPECT_FALSE(trust.wants_sample({0, 1}));
  trust.keep_sample(4, bytes_of("begin"));
  EXPECT_FALSE(trust.wants_sample({0})) << "one will do";
  EXPECT_FALSE(trust.lead_is_open());

  EXPECT_FALSE(trust.to_compare(0));
  EXPECT_TRUE(trust.to_compare(1));
  trust.begin_comparing(1);
  EXPECT_FALSE(trust.to_compare(1)) << "it is under way";
  EXPECT_TRUE(trust.may_give(1)) << "one chunk meanwhile";
  EXPECT_FALSE(trust.believed({1}));
  trust.hold(chunk_of(7, {1}));
  EXPECT_FALSE(trust.may_give(1));
  EXPECT_FALSE(trust.any_held());
  trust.admit(1);
  trust.end_comparing(1);
  EXPECT_TRUE(trust.may_give(1));
  EXPECT_TRUE(trust.believed({0, 1}));
  ASSERT_TRUE(trust.any_held());
  EXPECT_EQ(trust.take_held().chunk, 7U);
  EXPECT_FALSE(trust.any_held());
}

TEST(Trust, WhatADeadStrangerGaveIsDropped) {
  Trust trust(true);
  trust.asked(0);
  trust.hold(chunk_of(3, {1}));
  trust.hold(chunk_of(4, {2}));
  EXPECT_EQ(trust.drop_held([](std::size_t mirror) { return mirror == 1; }), (std::vector<std::uint64_t>{3}));
  EXPECT_TRUE(trust.drop_held([](std::size_t) { return false; }).empty());
}

TEST(Trust, WithoutAProofOneGivesAll) {
  Trust trust(false);
  trust.asked(0);
  EXPECT_FALSE(trust.to_compare(1));
  EXPECT_FALSE(trust.may_give(1));
  EXPECT_FALSE(trust.dismiss(1, false, true)) << "it gave nothing";
  EXPECT_TRUE(trust.dismiss(0, false, true)) << "another begins anew";
  trust.asked(1);
  EXPECT_TRUE(trust.leads(1));
  EXPECT_FALSE(trust.dismiss(1, false, false)) << "nobody is left: what came is kept for a better day";
}

TEST(Trust, WhoIsWrongTakesAlongWhatItGave) {
  Trust trust(true);
  trust.asked(0);
  trust.admit(1);
  trust.admit(2);
  EXPECT_FALSE(trust.dismiss(1, false, true)) << "dead, but it agreed";
  EXPECT_TRUE(trust.believed({1}));
  EXPECT_TRUE(trust.dismiss(2, true, true));
  EXPECT_FALSE(trust.believed({2}));
}

TEST(Trust, AWholeThatIsWrongIsHeardFromEachAlone) {
  Trust one(true);
  one.asked(0);
  one.gave({0});
  EXPECT_EQ(one.whole_was_wrong(false), std::size_t{0});

  Trust several(true);
  several.asked(0);
  several.admit(1);
  several.gave({0, 1});
  several.expect(0, {"old", ""});
  EXPECT_FALSE(several.whole_was_wrong(false));
  several.restart();
  EXPECT_EQ(several.suspects(), (std::set<std::size_t>{0, 1}));
  EXPECT_TRUE(several.givers().empty());
  EXPECT_TRUE(several.same_version(0, {"new", ""}));
  EXPECT_FALSE(several.same_version(0, {"newer", ""}));
  several.asked(0);
  EXPECT_FALSE(several.may_give(1)) << "not together again";
  EXPECT_EQ(several.version_of_leader().etag, "new");
}

TEST(Trust, AnotherLeadsWhereTheFirstIsMute) {
  Trust trust(true);
  trust.asked(0);
  trust.hold(chunk_of(0, {0}));
  EXPECT_FALSE(trust.take_lead(0));
  EXPECT_TRUE(trust.take_lead(1));
  EXPECT_TRUE(trust.believed({1}));
  EXPECT_FALSE(trust.believed({0})) << "it is compared with the new one";
  EXPECT_TRUE(trust.to_compare(0));
}

TEST(Trust, WhoDifferedIsHeardAgainAlone) {
  Trust trust(true);
  trust.asked(0);
  EXPECT_TRUE(trust.hear_differing_alone().empty());
  EXPECT_TRUE(trust.may_give(1));
  trust.differs(1, differs);
  EXPECT_EQ(trust.hear_differing_alone().size(), 1U);
  EXPECT_FALSE(trust.may_give(1));
  EXPECT_TRUE(trust.differing().empty());
}

TEST(Trust, AVersionIsAHint) {
  Trust trust(true);
  trust.asked(0);
  EXPECT_TRUE(trust.same_version(0, {"\"a\"", ""}));
  EXPECT_FALSE(trust.same_version(0, {"\"b\"", ""}));
  trust.keep_sample(0, bytes_of("begin"));
  ASSERT_TRUE(trust.doubt_version(0, true)) << "the whole can be proved";
  EXPECT_TRUE(trust.same_version(0, {"\"b\"", ""}));
  EXPECT_TRUE(trust.expected(0, {}).empty()) << "nor is it asked for";
  EXPECT_TRUE(trust.to_compare(0)) << "what it gives now must agree with what it gave";
  EXPECT_TRUE(trust.believed({0})) << "what it gave is kept";
  trust.admit(0);
  trust.gave({0});
  EXPECT_EQ(trust.whole_was_wrong(false), std::nullopt) << "two versions, and one may be right";
  trust.restart();
  EXPECT_FALSE(trust.doubt_version(0, true)) << "no mixture a second time";
  trust.gave({0});
  EXPECT_EQ(trust.whole_was_wrong(false), 0U);
}

TEST(Trust, WithoutAProofTheSecondChangeWantsOneAnswer) {
  Trust trust(false);
  trust.asked(0);
  EXPECT_FALSE(trust.doubt_version(0, true));
  EXPECT_FALSE(trust.needs_one_answer());
  trust.restart();
  EXPECT_TRUE(trust.needs_one_answer());
}

}  // namespace
}  // namespace sabath
