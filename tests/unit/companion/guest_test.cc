// A host with eight threads that allocate and call their own HDF5 all the time, while the library reads HDF5 files and
// runs programs in it: nothing waits for ever, nothing dies, and what belongs to the host is as it was.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <clocale>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "base/wording.h"
#include "hdf5/own_process.h"
#include "run/guarded_process.h"
#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

constexpr int rounds = 50, busy_threads = 8;
constexpr std::array<hsize_t, 2> extents{4, 5};

std::atomic<int> forks{0};  // fork(3) calls what pthread_atfork(3) was given, posix_spawn(3) does not

void write_file(const std::filesystem::path& file) {
  const hid_t id = H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(2, extents.data(), nullptr);
  const hid_t data = H5Dcreate2(id, "x", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  std::array<int, 20> values{};
  for (int i = 0; i < 20; ++i) values[static_cast<std::size_t>(i)] = i;
  ASSERT_GE(H5Dwrite(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  H5Dclose(data);
  H5Sclose(space);
  ASSERT_GE(H5Fclose(id), 0);
}

// Like a call of h5py: all threads of the host share one lock around HDF5.
int sum_of(const std::filesystem::path& file) {
  static std::mutex hdf5;
  const std::lock_guard lock(hdf5);
  const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t data = H5Dopen2(id, "x", H5P_DEFAULT);
  std::array<int, 20> values{};
  H5Dread(data, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(data);
  H5Fclose(id);
  int sum = 0;
  for (const int value : values) sum += value;
  return sum;
}

// Eight threads, in malloc and in HDF5.
class BusyHost {
 public:
  explicit BusyHost(const std::filesystem::path& file) {
    for (int i = 0; i < busy_threads; ++i) {
      threads_.emplace_back([this, &file](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          std::vector<std::string> texts;
          for (std::size_t length = 64; length < 4096; length += 64) texts.emplace_back(length, 'x');
          if (sum_of(file) != 190) ++wrong_;
          ++turns_;
        }
      });
    }
  }
  [[nodiscard]] int wrong() const { return wrong_; }
  [[nodiscard]] int turns() const { return turns_; }

 private:
  std::atomic<int> wrong_{0}, turns_{0};
  std::vector<std::jthread> threads_;
};

// The state of the process that the library must not change.
struct Belongings {
  std::array<struct sigaction, 32> actions{};
  sigset_t mask{};
  mode_t mode = 0;
  std::filesystem::path directory = std::filesystem::current_path();
  std::string locale = std::setlocale(LC_ALL, nullptr);
  std::array<std::filesystem::path, 3> streams;

  Belongings() {
    for (int number = 1; number < 32; ++number)
      ::sigaction(number, nullptr, &actions.at(static_cast<unsigned>(number)));
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    mode = ::umask(0);
    ::umask(mode);
    for (unsigned fd = 0; fd < 3; ++fd) {
      streams.at(fd) = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd));
    }
  }

  void expect_same_as(const Belongings& other) const {
    for (unsigned number = 1; number < 32; ++number) {
      EXPECT_EQ(actions.at(number).sa_handler, other.actions.at(number).sa_handler) << number;
      EXPECT_EQ(::sigismember(&mask, static_cast<int>(number)), ::sigismember(&other.mask, static_cast<int>(number)));
    }
    EXPECT_EQ(mode, other.mode);
    EXPECT_EQ(directory, other.directory);
    EXPECT_EQ(locale, other.locale);
    EXPECT_EQ(streams, other.streams);
  }
};

int exit_of(const ProcessSpec& spec) {
  GuardedProcess process(spec);
  std::optional<ProcessEnd> end;
  while (!end) end = process.try_end();
  return end->exit;
}

TEST(Guest, LeavesItsHostAlone) {
  const test::TempDir home;
  const auto file = home.path() / "x.h5";
  ASSERT_NO_FATAL_FAILURE(write_file(file));
  ::pthread_atfork([] { ++forks; }, nullptr, nullptr);
  const Belongings before;
  {
    const BusyHost host(file);
    Hdf5 hdf5(SABATH_PROGRAM);
    for (int round = 0; round < rounds; ++round) {
      if (round % 2 == 0) hdf5 = Hdf5(SABATH_PROGRAM);
      const auto record = hdf5.inspect(file, {});
      ASSERT_EQ(record.at("objects_total"), 2) << record;
      ASSERT_EQ(exit_of({{"/bin/sh", "-c", "exit 7"}, {"PATH=/usr/bin:/bin"}, home.path(), SABATH_PROGRAM}), 7);
    }
    EXPECT_GT(host.turns(), 0);
    EXPECT_EQ(host.wrong(), 0);
  }
  EXPECT_EQ(forks, 0);
  Belongings().expect_same_as(before);
}

// A host may leave its children to the system, or wait for all of them in a thread of its own.
TEST(Guest, IsNotToldOfEnds) {
  const test::TempDir home;
  const auto file = home.path() / "x.h5";
  ASSERT_NO_FATAL_FAILURE(write_file(file));
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(Hdf5(SABATH_PROGRAM).inspect(file, {}).at("objects_total"), 2);
  EXPECT_EQ(exit_of({{"/bin/sh", "-c", "exit 7"}, {"PATH=/usr/bin:/bin"}, home.path(), SABATH_PROGRAM}), 7);
  ::signal(SIGCHLD, before);
}

TEST(Guest, HasNoStandardStreams) {
  const test::TempDir home;
  const auto file = home.path() / "x.h5";
  ASSERT_NO_FATAL_FAILURE(write_file(file));
  const int input = ::dup(STDIN_FILENO), output = ::dup(STDOUT_FILENO);
  ::close(STDIN_FILENO);
  ::close(STDOUT_FILENO);
  const auto record = Hdf5(SABATH_PROGRAM).inspect(file, {});
  GuardedProcess process({{"/bin/sh", "-c", "echo out; echo err >&2"}, {}, home.path(), SABATH_PROGRAM});
  std::array<char, 8> text{};
  const ssize_t n = ::read(process.out(), text.data(), text.size());
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::close(input);
  ::close(output);
  EXPECT_EQ(record.at("objects_total"), 2);
  EXPECT_EQ(std::string(text.data(), static_cast<std::size_t>(n)), "out\n");
}

TEST(Guest, SelectsAndHashesElsewhere) {
  const test::TempDir home;
  const auto file = home.path() / "x.h5", part = home.path() / "part.h5";
  ASSERT_NO_FATAL_FAILURE(write_file(file));
  Hdf5 hdf5(SABATH_PROGRAM);
  const SelectedFile made = hdf5.select(file, {parse_selection("x[1:3]")}, part, {}, {});
  EXPECT_EQ(made.files, std::vector{part});
  EXPECT_EQ(made.bytes_selected, 40u);
  const LogicalHash whole = hdf5.hash(file, true, {}), again = hdf5.hash(file, false, {});
  EXPECT_EQ(whole.hash, again.hash);
  EXPECT_EQ(whole.objects.size(), 2u);
  EXPECT_TRUE(again.objects.empty());
  EXPECT_NE(hdf5.hash(part, false, {}).hash, whole.hash);
}

std::string hint_of_a_missing_file() {
  Hdf5 hdf5(SABATH_PROGRAM);
  try {
    static_cast<void>(hdf5.inspect("/no/such.h5", {}));
  } catch (const Error& error) {
    return error.failure().hint;
  }
  return "it was read";
}

TEST(Guest, ReadsTheWordsOfItsOwnUser) {
  EXPECT_EQ(hint_of_a_missing_file(), "`path NAME` prints where a fetched asset is");
  static const Wording line = [] {
    Wording other = wording_of_hosts;
    other.name = "line";
    return other;
  }();
  use_wording(line);
  EXPECT_EQ(hint_of_a_missing_file(), "`sabath path NAME` prints where a fetched asset is");
  use_wording(wording_of_hosts);
}

TEST(Guest, LearnsWhatIsWrong) {
  const test::TempDir home;
  const auto text = home.path() / "text.h5", file = home.path() / "x.h5";
  std::ofstream(text) << "not HDF5 at all\n";
  ASSERT_NO_FATAL_FAILURE(write_file(file));
  Hdf5 hdf5(SABATH_PROGRAM);
  try {
    static_cast<void>(hdf5.inspect(text, {}));
    FAIL() << "it was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::invalid);
    EXPECT_NE(error.failure().message.find("text.h5"), std::string::npos) << error.failure().message;
  }
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(static_cast<void>(hdf5.inspect(file, stop.get_token())), Error);
  EXPECT_EQ(hdf5.inspect(file, {}).at("objects_total"), 2);
}

}  // namespace
}  // namespace sabath
