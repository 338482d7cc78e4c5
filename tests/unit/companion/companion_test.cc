#include "base/companion.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <vector>

#include "sabath/error.h"
#include "sabath/event.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

Failure failure_of(const std::filesystem::path& program) {
  try {
    const Companion companion(find_companion(program), "hdf5", {}, {});
  } catch (const Error& error) {
    return error.failure();
  }
  ADD_FAILURE() << program << " was taken";
  return {};
}

std::filesystem::path script(const test::TempDir& home, const std::string& name, const std::string& text) {
  auto file = home.path() / name;
  std::ofstream(file) << "#!/bin/sh\n" << text << "\n";
  ::chmod(file.c_str(), 0755);
  return file;
}

TEST(Companion, MustBeOfThisVersion) {
  const test::TempDir home;
  for (const auto& [program, words] : std::vector<std::pair<std::filesystem::path, std::string>>{
           {"/no/such/sabath", "cannot start"},
           {"/bin/true", "it does not answer"},
           {script(home, "usage", "echo 'no such option: --as' >&2; exit 2"), "complains \"no such option: --as\""},
           {script(home, "talker", "yes words >&2"), "complains \"words"},
           {script(home, "other", "printf 'sabath 99.0.0, companion 2\\n' >&0"), "it says \"sabath 99.0.0"},
           {script(home, "dying", "kill -SEGV $$"), "it does not answer"}}) {
    const Failure failure = failure_of(program);
    EXPECT_EQ(failure.kind, FailureKind::command);
    EXPECT_NE(failure.message.find(words), std::string::npos) << failure.message;
    EXPECT_NE(failure.hint.find("from one build"), std::string::npos) << failure.hint;
  }
}

TEST(Companion, GreetsAndEndsWhenNobodyIsThere) {
  Companion companion(SABATH_PROGRAM, "hdf5", {}, {});
  EXPECT_GT(companion.pid(), 0);
  const auto status = companion.wait();
  ASSERT_TRUE(status.has_value());
  EXPECT_TRUE(WIFEXITED(*status));
}

TEST(Companion, EndsThoughAChildOfTheHostHoldsItsChannel) {
  Companion companion(SABATH_PROGRAM, "hdf5", {}, {});
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  EXPECT_TRUE(companion.wait().has_value());
  EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "it was not the child's end that ended it";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(Companion, ARoleThatIsNoneIsRefused) { EXPECT_THROW(Companion(SABATH_PROGRAM, "cook", {}, {}), Error); }

TEST(Companion, IsEndedByAStopRequest) {
  const test::TempDir home;
  std::stop_source stop;
  stop.request_stop();
  try {
    const Companion companion(script(home, "silent", "exec sleep 60"), "hdf5", {}, stop.get_token());
    FAIL() << "it was waited for";
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::interrupted);
  }
}

struct Channel {
  Channel() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    ours = Fd(ends[0]);
    theirs = Fd(ends[1]);
  }
  Fd ours, theirs;
};

TEST(Message, ArrivesWhole) {
  const Channel channel;
  const std::string text("with a \0 in it", 14);
  send_message(channel.ours.get(), text);
  send_message(channel.ours.get(), "");
  EXPECT_EQ(receive_message(channel.theirs.get(), 14), text);
  EXPECT_EQ(receive_message(channel.theirs.get(), 14), "");
}

TEST(Message, ThatIsTooLongIsNotRead) {
  const Channel channel;
  send_message(channel.ours.get(), "15 bytes of text");
  EXPECT_THROW(static_cast<void>(receive_message(channel.theirs.get(), 14)), Error);
}

TEST(Message, ThatEndsEarlyIsNone) {
  Channel channel;
  const std::uint64_t length = 9;
  ASSERT_EQ(::send(channel.ours.get(), &length, sizeof length, 0), static_cast<ssize_t>(sizeof length));
  channel.ours.reset();
  EXPECT_EQ(receive_message(channel.theirs.get(), 14), std::nullopt);
}

// SIGPIPE is as the system has it here: it would end this test.
TEST(Message, ToNobodyIsAnError) {
  Channel channel;
  channel.theirs.reset();
  EXPECT_THROW(send_message(channel.ours.get(), "hello"), Error);
}

}  // namespace
}  // namespace sabath
