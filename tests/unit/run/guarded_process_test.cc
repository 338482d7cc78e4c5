#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

#include "run/guarded_process.h"
#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

ProcessSpec shell(const std::string& text, const std::filesystem::path& directory = {}) {
  return {{"sh", "-c", text}, {"PATH=/usr/bin:/bin", "GREETING=hello"}, directory, SABATH_PROGRAM};
}

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(fd, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

std::string read_line(int fd) {
  std::string line;
  for (char c = 0; ::read(fd, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

ProcessEnd end_of(GuardedProcess& process) {
  std::optional<ProcessEnd> end;
  while (!end) end = process.try_end();
  return *end;
}

bool is_gone(pid_t pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }

TEST(GuardedProcess, RunsWithItsOwnEnvironmentAndDirectory) {
  const test::TempDir home;
  GuardedProcess process(shell("echo $GREETING; pwd; echo err >&2; cat; exit 3", home.path()));
  EXPECT_EQ(read_all(process.out()), "hello\n" + home.path().string() + "\n");
  EXPECT_EQ(read_all(process.err()), "err\n");
  const ProcessEnd end = end_of(process);
  EXPECT_EQ(end.exit, 3);
  EXPECT_EQ(end.signal, 0);
}

TEST(GuardedProcess, SaysWhatCannotBeStarted) {
  EXPECT_THROW(GuardedProcess({{"no-such-program"}, {"PATH=/usr/bin:/bin"}, {}, SABATH_PROGRAM}), Error);
  GuardedProcess process({{"/dev/null"}, {}, {}, SABATH_PROGRAM});
  EXPECT_THROW(static_cast<void>(end_of(process)), Error);
  GuardedProcess nowhere({{"/bin/true"}, {}, "/no/such/directory", SABATH_PROGRAM});
  EXPECT_THROW(static_cast<void>(end_of(nowhere)), Error);
}

TEST(GuardedProcess, PassesSignalsToTheGroup) {
  GuardedProcess process(shell("trap 'echo got it; exit 5' TERM; echo ready; while :; do sleep 60 & wait; done"));
  ASSERT_EQ(read_line(process.out()), "ready");
  process.signal(SIGTERM);
  EXPECT_EQ(read_line(process.out()), "got it");
  EXPECT_EQ(end_of(process).exit, 5);
  GuardedProcess other(shell("echo ready; exec sleep 60"));
  ASSERT_EQ(read_line(other.out()), "ready");
  other.signal(SIGTERM);
  EXPECT_EQ(end_of(other).signal, SIGTERM);
}

TEST(GuardedProcess, EndsWhatIgnoresEverySignal) {
  GuardedProcess process(shell("trap '' TERM INT HUP; echo ready; while :; do sleep 60; done"));
  ASSERT_EQ(read_line(process.out()), "ready");
  process.signal(SIGTERM);
  process.end_all();
  EXPECT_EQ(end_of(process).signal, SIGKILL);
}

// In a session and a group of its own, its parent gone, deaf to SIGTERM: an orphan as a launcher leaves it.
constexpr const char* orphan = "setsid sh -c 'trap \"\" TERM HUP; echo $$; exec sleep 60' & ";

TEST(GuardedProcess, LeavesNothingBehindWhenTheProgramEnds) {
  auto process = std::make_unique<GuardedProcess>(shell(std::string(orphan) + "sleep 0.1; exit 0"));
  const pid_t pid = std::stoi(read_line(process->out()));
  EXPECT_EQ(end_of(*process).exit, 0);
  process.reset();
  EXPECT_TRUE(is_gone(pid));
}

TEST(GuardedProcess, LeavesNothingBehindWhenItIsGivenUp) {
  auto process = std::make_unique<GuardedProcess>(shell(std::string(orphan) + "wait"));
  const pid_t pid = std::stoi(read_line(process->out()));
  EXPECT_FALSE(is_gone(pid));
  process.reset();
  EXPECT_TRUE(is_gone(pid));
}

// The parent is killed as nothing can be caught; what it started ends all the same.
TEST(GuardedProcess, LeavesNothingBehindWhenTheParentIsKilled) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    GuardedProcess process(shell(std::string(orphan) + "wait"));
    const std::string pid = read_line(process.out()) + "\n";
    [[maybe_unused]] const auto n = ::write(ends[1], pid.data(), pid.size());
    ::pause();
  }
  ::close(ends[1]);
  const pid_t pid = std::stoi(read_line(ends[0]));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  for (int i = 0; i < 500 && !is_gone(pid); ++i) ::poll(nullptr, 0, 10);  // this process is not told of its end
  EXPECT_TRUE(is_gone(pid));
}

}  // namespace
}  // namespace sabath
