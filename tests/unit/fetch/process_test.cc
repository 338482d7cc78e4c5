// One child process, and every way in which it can end.
#include "base/process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <thread>

#include "sabath/error.h"
#include "support/process.h"
#include "support/seeded.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

Command shell(const std::string& text) {
  Command command;
  command.argv = {"sh", "-c", text};
  return command;
}

FailureKind kind_of(const Command& command, std::stop_token stop = {}) {
  try {
    (void)run_command(command, std::move(stop));
  } catch (const Error& error) {
    return error.failure().kind;
  }
  return FailureKind::internal;  // it did not throw
}

TEST(Process, StatusAndBothStreams) {
  const auto result = run_command(shell("echo out; echo err >&2; exit 7"), {});
  EXPECT_EQ(result.status, 7);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(run_command(shell("kill -TERM $$"), {}).status, 128 + SIGTERM);
}

TEST(Process, ArgumentsAreNotShellText) {
  Command command;
  command.argv = {"printf", "%s|", "$(id)", "a b", "*", ""};
  EXPECT_EQ(run_command(command, {}).out, "$(id)|a b|*||");
}

TEST(Process, EnvironmentDirectoryAndAnEmptyInput) {
  const test::TempDir directory;
  Command command = shell("echo \"$SABATH_ADDED|${HOME-unset}\"; pwd; cat");
  command.environment = {{"SABATH_ADDED", "here"}, {"HOME", ""}};
  command.directory = directory.path();
  const auto result = run_command(command, {});
  EXPECT_EQ(result.out, "here|unset\n" + std::filesystem::canonical(directory.path()).string() + "\n");
}

TEST(Process, OnlyTheFirstOutputIsKeptAndTheRestDoesNotBlock) {
  Command command = shell("head -c 3000000 /dev/zero | tr '\\0' x; printf end >&2");
  command.output_max = 1000;
  const auto result = run_command(command, {});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, std::string(1000, 'x'));
  EXPECT_EQ(result.err, "end");
}

TEST(Process, AMissingProgramIsNamed) {
  Command command;
  command.argv = {"sabath-no-such-program"};
  try {
    (void)run_command(command, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::command);
    EXPECT_NE(error.failure().message.find("sabath-no-such-program"), std::string::npos);
    EXPECT_NE(error.failure().hint.find("install"), std::string::npos);
  }
  command.argv.clear();
  EXPECT_THROW((void)run_command(command, {}), Error);
  command = shell("true");
  command.directory = "/no/such/directory";
  EXPECT_EQ(kind_of(command), FailureKind::command);
}

// `probe` is written by a process of the group for as long as it lives.
bool grows(const std::filesystem::path& probe) {
  const auto size = [&] { return std::filesystem::exists(probe) ? std::filesystem::file_size(probe) : 0; };
  const auto before = size();
  return test::wait_until([&] { return size() > before; }, milliseconds(400));
}

std::string writes_forever(const std::filesystem::path& probe) {
  return "while :; do echo x >> '" + probe.string() + "'; sleep 0.02; done";
}

TEST(Process, TheDeadlineEndsTheWholeGroup) {
  const test::TempDir directory;
  Command command = shell("(" + writes_forever(directory / "probe") + ") & wait");
  command.deadline = milliseconds(300);
  const auto begin = Clock::now();
  EXPECT_EQ(kind_of(command), FailureKind::command);
  EXPECT_LT(Clock::now() - begin, seconds(50));
  EXPECT_FALSE(grows(directory / "probe"));
}

TEST(Process, WhoIgnoresTheRequestIsKilled) {
  const test::TempDir directory;
  Command command = shell("trap '' TERM; " + writes_forever(directory / "probe"));
  command.deadline = milliseconds(100);
  const auto begin = Clock::now();
  EXPECT_EQ(kind_of(command), FailureKind::command);
  EXPECT_LT(Clock::now() - begin, seconds(50));
  EXPECT_FALSE(grows(directory / "probe"));
}

TEST(Process, AChildThatClosedItsStreamsStillHasADeadline) {
  Command command = shell("exec >&- 2>&-; sleep 1000");
  command.deadline = milliseconds(200);
  const auto begin = Clock::now();
  EXPECT_EQ(kind_of(command), FailureKind::command);
  EXPECT_LT(Clock::now() - begin, seconds(50));
}

TEST(Process, ADescendantThatKeepsTheStreamsDoesNotKeepUs) {
  const auto begin = Clock::now();
  const auto result = run_command(shell("echo told; sleep 100 & exit 3"), {});
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.out, "told\n");
  EXPECT_LT(Clock::now() - begin, seconds(50));
}

TEST(Process, AStopRequestEndsIt) {
  std::stop_source stop;
  const auto begin = Clock::now();
  std::jthread stopper([&] {
    std::this_thread::sleep_for(milliseconds(100));
    stop.request_stop();
  });
  EXPECT_EQ(kind_of(shell("sleep 1000"), stop.get_token()), FailureKind::interrupted);
  EXPECT_LT(Clock::now() - begin, seconds(50));
}

TEST(Process, FromManyThreadsAtOnce) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      const auto result = run_command(shell("echo " + std::to_string(i) + "; exit " + std::to_string(i)), {});
      EXPECT_EQ(result.status, i);
      EXPECT_EQ(result.out, std::to_string(i) + "\n");
    });
  }
}

TEST(Process, AFailureIsNotMistakenForSuccessWhereChildrenAreReapedByTheKernel) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(kind_of(shell("exit 1")), FailureKind::command);
  ::signal(SIGCHLD, before);
}

}  // namespace
}  // namespace sabath
