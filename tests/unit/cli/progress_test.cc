#include "cli/show/progress.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace sabath::cli {
namespace {

// A screen of text, and a clock that stands still until it is moved.
struct Desk {
  double now_s = 0;
  std::string screen;

  ProgressWorld world() {
    return {[this] { return now_s; }, [] { return std::time_t{0}; }, [] { return 60U; },
            [this](std::string_view text) { screen += text; }};
  }
  std::string take() { return std::exchange(screen, ""); }
};

Presentation live() {
  Presentation presentation;
  presentation.live = true;
  return presentation;
}

TEST(Progress, RedrawsItsBlockInPlaceAndLeavesNothing) {
  Desk desk;
  {
    Progress progress(live(), desk.world(), Progress::Ticks::by_caller);
    progress.tick();
    EXPECT_EQ(desk.take(), "");  // nothing has begun
    progress.on(event::AssetStarted{"one", 100, 0});
    progress.tick();
    EXPECT_EQ(desk.take(), "one\n[                                   ]   0%  0 B of 100 B  -\n");
    progress.on(event::BytesReceived{0, 50});
    EXPECT_EQ(desk.take(), "");  // an event alone never draws
    progress.tick();
    EXPECT_EQ(desk.take(), "\r\x1b[2A\x1b[Jone\n[=================                 ]  50%  50 B of 100 B  -\n");
    progress.on(event::AssetFinished{"one"});
    EXPECT_EQ(desk.take(), "\r\x1b[2A\x1b[J");
    progress.tick();
    EXPECT_EQ(desk.take(), "");
  }
  EXPECT_EQ(desk.take(), "");
}

TEST(Progress, AnInterruptedOneClearsItsBlock) {
  Desk desk;
  {
    Progress progress(live(), desk.world(), Progress::Ticks::by_caller);
    progress.on(event::AssetStarted{"one", 100, 0});
    progress.tick();
    desk.take();
  }
  EXPECT_EQ(desk.take(), "\r\x1b[2A\x1b[J");
}

TEST(Progress, AWarningStandsAboveTheBlock) {
  Desk desk;
  Progress progress(live(), desk.world(), Progress::Ticks::by_caller);
  progress.on(event::AssetStarted{"one", 100, 0});
  progress.tick();
  desk.take();
  progress.on(event::Warning{"odd \x1b[0m"});
  EXPECT_TRUE(desk.take().starts_with("\r\x1b[2A\x1b[Jwarning: odd \\x1b[0m\n"));
}

TEST(Progress, ALogHasOneLineEveryTenSeconds) {
  Desk desk;
  Progress progress(Presentation{}, desk.world(), Progress::Ticks::by_caller);
  progress.on(event::AssetStarted{"one", 100, 0});
  std::size_t lines = 0;
  for (int tenth = 0; tenth < 350; ++tenth) {
    desk.now_s = tenth / 10.0;
    progress.tick();
    const std::string text = desk.take();
    if (!text.empty()) ++lines;
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
  }
  EXPECT_EQ(lines, 3U);
}

TEST(Progress, QuietSaysWarningsOnlyAndVerboseSaysNotes) {
  Desk desk;
  Presentation quiet = live();
  quiet.quiet = true;
  Progress silent(quiet, desk.world(), Progress::Ticks::by_caller);
  silent.on(event::AssetStarted{"one", 100, 0});
  silent.on(event::Note{"a note"});
  silent.tick();
  EXPECT_EQ(desk.take(), "");
  silent.on(event::Warning{"a warning"});
  EXPECT_EQ(desk.take(), "warning: a warning\n");

  Presentation verbose;
  verbose.verbose = true;
  Progress talking(verbose, desk.world(), Progress::Ticks::by_caller);
  talking.on(event::Note{"a note"});
  talking.on(event::SourceNamed{3, "http://a.example/"});
  talking.on(event::SourceFailed{3, "503", true});
  EXPECT_EQ(desk.take(), "note: a note\nnote: http://a.example/: 503; avoided from now on\n");
}

TEST(Progress, APauseIsSaidOnceWhereNothingIsDrawn) {
  Desk desk;
  Progress log(Presentation{}, desk.world(), Progress::Ticks::by_caller);
  log.on(event::AssetStarted{"one", 100, 0});
  log.on(event::HostPaused{"portal.example", 90.2});
  EXPECT_EQ(desk.take(), "waiting 1 m 31 s: portal.example asked for it\n");
  Progress drawn(live(), desk.world(), Progress::Ticks::by_caller);
  drawn.on(event::AssetStarted{"one", 100, 0});
  drawn.on(event::HostPaused{"portal.example", 12});
  EXPECT_EQ(desk.take(), "");
}

TEST(Progress, AnswersAStopRequestOnce) {
  Desk desk;
  std::stop_source stop;
  Progress progress(live(), desk.world(), Progress::Ticks::by_caller, stop.get_token());
  progress.on(event::AssetStarted{"one", 100, 0});
  progress.tick();
  desk.take();
  stop.request_stop();
  stop.request_stop();
  EXPECT_TRUE(desk.take().starts_with("\r\x1b[2A\x1b[Jstopping at 0% (0 B of 100 B): what is verified is kept, and "));
  EXPECT_EQ(desk.take(), "");
}

TEST(Progress, TakesEventsFromManyThreads) {
  Desk desk;
  desk.now_s = 1;
  Progress progress(live(), desk.world(), Progress::Ticks::by_thread);
  progress.on(event::AssetStarted{"one", 4000, 0});
  {
    std::vector<std::jthread> lanes;
    for (std::uint32_t lane = 0; lane < 4; ++lane) {
      lanes.emplace_back([&progress, lane] {
        for (int i = 0; i < 1000; ++i) progress.on(event::BytesReceived{lane, 1});
      });
    }
  }
  progress.tick();
  progress.on(event::AssetFinished{"one"});
  EXPECT_NE(desk.screen.find("4.00 kB of 4.00 kB"), std::string::npos);
}

}  // namespace
}  // namespace sabath::cli
