// Processes that are killed, stopped and refused. Random moments come from a seed that is printed; set
// SABATH_TEST_SEED to have a run again.
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include "base/hash.h"
#include "store/disk/layout.h"
#include "store_fixture.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t size = 4 * chunk_size_bytes + 12'345;

std::uint64_t random_seed() {
  const char* given = std::getenv("SABATH_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::stoull(given) : std::random_device{}();
  std::printf("SABATH_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

struct Crash : StoreFixture {
  const std::string bytes = seeded_bytes(9, 0, size);
  const FileTree tree = tree_of(bytes);
  int logs = 0;

  std::unique_ptr<ChildProcess> start(const std::string& mode, const std::string& pause_us,
                                      std::string* log = nullptr) {
    const auto file = temp / ("log" + std::to_string(logs++));
    if (log != nullptr) *log = file;
    return std::make_unique<ChildProcess>(child_command({mode, directory, "9", std::to_string(size), pause_us}), file);
  }
  void expect_whole() {
    EXPECT_TRUE(store->present(tree.digest));
    EXPECT_EQ(object(tree.digest), bytes);
    const auto report = store->verify(nullptr, 2, {});
    EXPECT_TRUE(report.bad.empty());
    EXPECT_EQ(report.files, 1U);
  }
};

TEST_F(Crash, KnownSurvivesKillsAtRandomMoments) {
  std::mt19937_64 random(random_seed());
  for (int kills = 0; kills < 15; ++kills) {
    const auto child = start("known", "500");
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
    child->kill();
    EXPECT_TRUE(!fs::exists(store->object_path(tree.digest)) || store->present(tree.digest));
  }
  EXPECT_EQ(start("known", "0")->wait(), 0);
  expect_whole();
  EXPECT_TRUE(files_below(directory / "partial").empty());
}

TEST_F(Crash, UnknownGoesOnWhereItWasKilled) {
  std::mt19937_64 random(random_seed());
  for (int kills = 0; kills < 15; ++kills) {
    const auto child = start("unknown", "1000");
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
    child->kill();
  }
  std::string log;
  EXPECT_EQ(start("unknown", "0", &log)->wait(), 0);
  expect_whole();
  EXPECT_TRUE(files_below(directory / "partial").empty());
  EXPECT_TRUE(files_below(directory / "tmp").empty());
}

TEST_F(Crash, AKillTakesOnlyThePieceOnItsWay) {
  const auto child = start("unknown", "15000");  // a chunk takes longer than what is not worth keeping
  const fs::path partial = directory / "partial" / sha256("9").hex();
  const auto scratch_size = [&] {
    for (const auto& name : fs::exists(partial) ? files_below(partial) : std::vector<std::string>()) {
      std::error_code error;
      if (name.find("scratch.") != std::string::npos) return fs::file_size(partial / name, error);
    }
    return std::uintmax_t{0};
  };
  ASSERT_TRUE(wait_until([&] { return scratch_size() > 2'500'000; }));
  child->kill();
  std::string log;
  EXPECT_EQ(start("unknown", "0", &log)->wait(), 0);
  EXPECT_LE(std::stoull(read_file(log)), size - 1'800'000);  // but for a piece whose head was missing yet
  expect_whole();
}

TEST_F(Crash, TwoProcessesFillOnePartial) {
  const auto a = start("known", "200"), b = start("known", "200");
  EXPECT_EQ(a->wait(), 0);
  EXPECT_EQ(b->wait(), 0);
  expect_whole();
}

TEST_F(Crash, AWriterThatWakesAfterPublicationChangesNothing) {
  const auto ready = temp / "ready";
  const auto sleeper = start("sleeper", ready);
  const auto stopped = [&] {
    if (!fs::exists(ready) || fs::file_size(ready) == 0) return false;
    const std::string stat = read_file("/proc/" + read_file(ready) + "/stat");
    return stat.find(") T ") != std::string::npos;
  };
  ASSERT_TRUE(wait_until(stopped));
  {
    const auto partial = store->open_partial(tree.digest, tree.chunks);
    for (std::uint64_t i = 0; i < tree.chunks.size(); ++i) {
      const auto chunk = bytes_of(bytes).subspan(i * chunk_size_bytes, chunk_length(size, i));
      partial->write_chunk(0, i, chunk, tree.chunks[i]);
    }
    partial->publish();
  }
  const auto before = try_lstat(store->object_path(tree.digest));
  ASSERT_EQ(::kill(static_cast<pid_t>(std::stol(read_file(ready))), SIGCONT), 0);
  EXPECT_EQ(sleeper->wait(), 0);
  const auto after = try_lstat(store->object_path(tree.digest));
  ASSERT_TRUE(before && after);
  EXPECT_EQ(before->st_ino, after->st_ino);
  EXPECT_EQ(before->st_ctim.tv_nsec, after->st_ctim.tv_nsec);
  expect_whole();
}

TEST_F(Crash, OneOfEightTakesADeadWritersPartialOver) {
  {
    const auto child = start("unknown", "2000");
    const fs::path partial = directory / "partial" / sha256("9").hex();
    ASSERT_TRUE(wait_until([&] {
      for (const auto& name : fs::exists(partial) ? files_below(partial) : std::vector<std::string>()) {
        std::error_code error;
        if (name.ends_with("/data") && fs::file_size(partial / name, error) >= 2 * chunk_size_bytes) return true;
      }
      return false;
    }));
    child->kill();
  }
  std::vector<std::unique_ptr<ChildProcess>> children;
  std::vector<fs::path> outputs;
  for (int i = 0; i < 8; ++i) {
    outputs.push_back(temp / ("adopted" + std::to_string(i)));
    children.push_back(std::make_unique<ChildProcess>(child_command({"adopt", directory, "9"}), outputs.back()));
  }
  int winners = 0;
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(children[static_cast<std::size_t>(i)]->wait(), 0);
    winners += std::stoull(read_file(outputs[static_cast<std::size_t>(i)])) > 0 ? 1 : 0;
  }
  EXPECT_EQ(winners, 1);
}

TEST_F(Crash, AFailedFsyncPublishesNothing) {
  if (find_program("strace").empty()) GTEST_SKIP() << "strace is not installed";
  for (const std::string mode : {"known", "unknown", "object"}) {
    std::vector<std::string> command{"strace",
                                     "-f",
                                     "-qq",
                                     "-o",
                                     "/dev/null",
                                     "-e",
                                     "trace=fsync",
                                     "-e",
                                     "inject=fsync:error=EIO",
                                     "-E",
                                     "ASAN_OPTIONS=detect_leaks=0"};  // it cannot look for leaks under ptrace
    for (const auto& word : child_command({mode, directory, "9", std::to_string(size), "0"})) command.push_back(word);
    ChildProcess child(command, temp / ("strace." + mode));
    const int status = child.wait();
    if (read_file(temp / ("strace." + mode)).find("ptrace") != std::string::npos) GTEST_SKIP() << "ptrace is refused";
    EXPECT_EQ(status, 1) << mode;
    EXPECT_FALSE(fs::exists(store->object_path(tree.digest))) << mode;
    EXPECT_TRUE(files_below(directory / "partial").empty()) << "what the disk refused must not be believed later";
  }
}

// The n-th call of each kind that changes the store is the process's last, for every n.
TEST_F(Crash, AKillAtAnyChangeLeavesAStoreThatGoesOn) {
  if (find_program("strace").empty()) GTEST_SKIP() << "strace is not installed";
  constexpr int sweep_max = 40;
  const std::uint64_t length = 70'000;
  const Digest digest = tree_of(seeded_bytes(9, 0, length)).digest;
  int points = 0;
  for (const std::string mode : {"known", "unknown", "object"}) {
    for (const std::string call : {"mkdir", "fallocate", "ftruncate", "rename", "renameat2", "linkat", "unlink",
                                   "unlinkat", "fsync", "fchmod", "rmdir", "pwrite64"}) {
      for (int n = 1; n <= sweep_max; ++n) {
        const fs::path at = temp / "swept";
        fs::remove_all(at);
        const auto work = child_command({mode, at, "9", std::to_string(length), "0"});
        std::vector<std::string> command{"strace",
                                         "-f",
                                         "-qq",
                                         "-o",
                                         "/dev/null",
                                         "-E",
                                         "ASAN_OPTIONS=detect_leaks=0",
                                         "-e",
                                         "trace=" + call,
                                         "-e",
                                         "inject=" + call + ":signal=KILL:when=" + std::to_string(n)};
        command.insert(command.end(), work.begin(), work.end());
        if (ChildProcess(command, temp / "log").wait() == 0) break;  // there is no n-th
        if (read_file(temp / "log").find("ptrace") != std::string::npos) GTEST_SKIP() << "ptrace is refused";
        ++points;
        ASSERT_EQ(ChildProcess(work, temp / "log").wait(), 0) << mode << ' ' << call << ' ' << n;
        const auto swept = Store::open(at, false);
        EXPECT_TRUE(swept->present(digest)) << mode << ' ' << call << ' ' << n;
        EXPECT_TRUE(swept->verify(nullptr, 1, {}).bad.empty());
        EXPECT_TRUE(files_below(at / "partial").empty()) << mode << ' ' << call << ' ' << n;
        EXPECT_TRUE(files_below(at / "tmp").empty()) << mode << ' ' << call << ' ' << n;
      }
    }
  }
  std::printf("killed at %d points\n", points);
  EXPECT_GT(points, 50);
}

// A small filesystem, below the store. Unmounted when the test ends.
struct Tmpfs {
  explicit Tmpfs(const fs::path& at, const std::string& options) : path(at) {
    fs::create_directory(path);
    mounted = ::geteuid() == 0 && ::mount("tmpfs", path.c_str(), "tmpfs", 0, options.c_str()) == 0;
  }
  ~Tmpfs() {
    if (mounted) ::umount2(path.c_str(), MNT_DETACH);
  }
  fs::path path;
  bool mounted = false;
};

TEST(Limits, AFullDiskIsSaidAndLeavesNothing) {
  const TempDir temp;
  const Tmpfs small(temp / "mnt", "size=1m");
  if (!small.mounted) GTEST_SKIP() << "mounting a tmpfs needs root";
  const auto store = Store::open(small.path / "s", true);
  const std::string bytes = seeded_bytes(1, 0, 5'000'000);
  const FileTree tree = tree_of(bytes);
  EXPECT_EQ(kind_of([&] { store->write_object()->write(bytes_of(bytes)); }), FailureKind::space);
  EXPECT_EQ(kind_of([&] { (void)store->open_partial(tree.digest, tree.chunks); }), FailureKind::space);
  EXPECT_EQ(
      kind_of([&] {
        store->open_partial(sha256("key"))->write_chunk(0, 0, bytes_of(bytes).first(chunk_size_bytes), tree.chunks[0]);
      }),
      FailureKind::space);
  write_file(temp / "mine", bytes);
  EXPECT_EQ(kind_of([&] { store->adopt(temp / "mine", false, {}); }), FailureKind::space);
  EXPECT_EQ(files_below(small.path / "s"), std::vector<std::string>{"format"});
  // And it is a store still.
  auto writer = store->write_object();
  writer->write(bytes_of("fits"));
  const Digest fits = writer->finish().digest;
  std::vector<std::unique_ptr<ObjectWriter>> group;
  group.push_back(std::move(writer));
  store->publish(std::move(group));
  EXPECT_TRUE(store->present(fits));
}

TEST(Limits, NoInodesIsSaidSo) {
  const TempDir temp;
  const Tmpfs small(temp / "mnt", "size=8m,nr_inodes=12");
  if (!small.mounted) GTEST_SKIP() << "mounting a tmpfs needs root";
  const auto store = Store::open(small.path / "s", true);
  try {
    std::vector<std::unique_ptr<ObjectWriter>> writers;
    for (int i = 0; i < 12; ++i) writers.push_back(store->write_object());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::space);
    EXPECT_NE(error.failure().message.find("no inodes"), std::string::npos) << error.failure().message;
  }
  EXPECT_TRUE(files_below(small.path / "s" / "tmp").empty());
}

TEST(Limits, AReadOnlyStoreCanBeRead) {
  const TempDir temp;
  const Tmpfs small(temp / "mnt", "size=8m");
  if (!small.mounted) GTEST_SKIP() << "mounting a tmpfs needs root";
  ASSERT_EQ(ChildProcess(child_command({"object", small.path / "s", "1", "1000"}), temp / "log").wait(), 0);
  fs::remove_all(small.path / "s" / "verified");
  ASSERT_EQ(::mount(nullptr, small.path.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  const auto store = Store::open(small.path / "s", false);
  const Digest digest = tree_of(seeded_bytes(1, 0, 1000)).digest;
  EXPECT_TRUE(store->present(digest));
  EXPECT_TRUE(store->verify(nullptr, 1, {}).bad.empty());
  EXPECT_EQ(store->usage().objects, 1U);
  EXPECT_EQ(kind_of([&] { (void)store->write_object(); }), FailureKind::storage);
}

}  // namespace
}  // namespace sabath::test
