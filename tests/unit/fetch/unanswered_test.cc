// Requests without an answer: which of them end, so that those whose connections are served can go on.
#include "fetch/transfer/unanswered.h"

#include <gtest/gtest.h>

#include <list>
#include <string>

#include "whole_file.h"

namespace sabath {
namespace {

constexpr Schedule::Speed speed{10e6, 0.01};

class UnansweredTest : public testing::Test {
 protected:
  Flow& ask(double now, Host& host) {
    EXPECT_TRUE(host.try_connect());
    Flow& flow = flows_.emplace_back();
    flow.pick.host = &host;
    flow.pick.url = &url_;
    flow.run = *schedule_.take(0, speed, 2, now, whole_chunks);
    flow.has_run = true;
    return flow;
  }

  // The first that was asked has its answer, and is done.
  void serve_first(double now) {
    Flow& flow = flows_.front();
    schedule_.advance(flow.run, 1, now);
    schedule_.release(flow.run);
    flow.pick.host->disconnect_unused();
    flows_.pop_front();
  }

  void give_places(unsigned n) { hosts_.add_rule({"data.lab", {n, 0}}); }

  // Of each flow, whether it was ended; "1" or "0", the oldest first.
  std::string ended(double now) {
    unanswered_.end(flows_, schedule_, now, events_);
    std::string result;
    for (const Flow& flow : flows_) result += flow.stop.stop_requested() ? '1' : '0';
    return result;
  }

  Hosts hosts_{0};
  Host& host_ = hosts_.of("https://data.lab");
  const Url url_ = Url::parse("https://data.lab/f");
  Schedule schedule_ = whole_file(40 * chunk);
  std::list<Flow> flows_;
  NoEvents events_;
  Unanswered unanswered_;
};

TEST_F(UnansweredTest, WhoKeepsOutTheServedGoesUntilOneMayComeBack) {
  for (int i = 0; i < 8; ++i) ask(0, host_);
  serve_first(0.4);
  EXPECT_EQ(ended(1), "0000000") << "there is a place left";
  give_places(4);
  EXPECT_EQ(ended(0.3), "0000000") << "they may yet have an answer";
  EXPECT_EQ(ended(1), "0001111") << "the youngest of them, and as many as free a place";
  EXPECT_EQ(ended(1.5), "0001111") << "their places are as good as free";
}

TEST_F(UnansweredTest, AsLongAsSomeAreServedNoMoreGoThanAreTooMany) {
  for (int i = 0; i < 8; ++i) ask(0, host_);
  for (Flow& flow : flows_) {
    if (&flow != &flows_.front() && &flow != &flows_.back()) schedule_.advance(flow.run, 1, 0.4);
  }
  EXPECT_EQ(ended(1), "00000000") << "all have their place";
  give_places(7);
  EXPECT_EQ(ended(1), "00000001");
}

TEST_F(UnansweredTest, ThereIsTwiceThePatienceEachTime) {
  for (int i = 0; i < 8; ++i) ask(0, host_);
  serve_first(0.4);
  give_places(7);
  EXPECT_EQ(ended(1), "0000001");
  flows_.pop_back();
  host_.disconnect_unused();
  ask(1, host_);
  schedule_.advance(flows_.front().run, 1, 1.1);
  serve_first(1.1);
  ask(1.2, host_);
  EXPECT_EQ(ended(1.3), "0000000");
  give_places(6);
  EXPECT_EQ(ended(1.3), "0000100") << "of those that waited for half a second; the last two did not";
}

TEST_F(UnansweredTest, WhoWaitsForLongGoesThoughThereAreOtherPlaces) {
  for (int i = 0; i < 4; ++i) ask(i == 3 ? 3 : 0, host_);
  serve_first(0.4);
  EXPECT_EQ(ended(4.9), "000");
  EXPECT_EQ(ended(5.1), "110") << "nobody was served since the last began";
}

TEST_F(UnansweredTest, ALoginIsSlowToBegin) {
  Host& login = hosts_.of("sftp://data.lab");
  for (int i = 0; i < 2; ++i) ask(0, login);
  serve_first(0.4);
  give_places(1);
  EXPECT_EQ(ended(60), "0");
}

}  // namespace
}  // namespace sabath
