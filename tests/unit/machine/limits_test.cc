// The bounds of writing: answers of kernels and programs as data, and the judgement of a need against them.
#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/expiry.h"
#include "machine/file_stripes.h"
#include "machine/idle_cores.h"
#include "machine/limits.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

class Place {  // a directory that goes with the test
 public:
  Place() {
    std::string name = (fs::temp_directory_path() / "sabath-limits-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) directory_ = name;
  }
  ~Place() {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  [[nodiscard]] fs::path operator/(const std::string& name) const { return directory_ / name; }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((directory_ / name).parent_path());
    std::ofstream(directory_ / name) << text;
  }
  [[nodiscard]] const fs::path& path() const { return directory_; }

 private:
  fs::path directory_;
};

TEST(Quota, TheHardLimitAndTheSoftOneAfterItsGrace) {
  constexpr std::int64_t now = 1000;
  EXPECT_EQ(left_of({10, 0, 0, 0}, now), std::nullopt);
  EXPECT_EQ(left_of({10, 0, 100, 0}, now), 90U);
  EXPECT_EQ(left_of({150, 0, 100, 0}, now), 0U);
  EXPECT_EQ(left_of({10, 50, 100, 0}, now), 90U);
  EXPECT_EQ(left_of({60, 50, 100, now + 1}, now), 40U);
  EXPECT_EQ(left_of({60, 50, 100, now}, now), 0U);
  EXPECT_EQ(left_of({10, 50, 0, 0}, now), 40U) << "a soft limit that stands alone";
}

TEST(Quota, LfsAnswersAreTakenWholeOrNotAtAll) {
  const auto plain = try_parse_lfs_quota("/lustre 1024 0 4096 - 12 5 10 -\n");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->kib.used, 1024U);
  EXPECT_EQ(plain->kib.hard, 4096U);
  EXPECT_EQ(plain->files.soft, 5U);
  const auto long_name = try_parse_lfs_quota("/a/very/long/name\n      5000* 4000 6000 6d23h 12 0 0 -\n");
  ASSERT_TRUE(long_name);
  EXPECT_EQ(left_of(long_name->kib, 1), 1000U) << "the grace has begun, and is not over";
  const auto over = try_parse_lfs_quota("/l 5000* 4000 6000 expired 12 0 0 -");
  ASSERT_TRUE(over);
  EXPECT_EQ(left_of(over->kib, 1'000'000), 0U);
  for (const char* text : {"", "/l", "/l 1 2 3 - 4 5 6", "/l [1] 2 3 - 4 5 6 -", "/l -1 2 3 - 4 5 6 -",
                           "/l 1 2 3 - 4 5 6 - 7", "lustre 1 2 3 - 4 5 6 -", "/l 1 2 99999999999999999999 - 4 5 6 -",
                           "/l 1 2 3 $(x) 4 5 6 -", "Disk quotas for usr 0:"}) {
    EXPECT_FALSE(try_parse_lfs_quota(text)) << text;
  }
}

TEST(Quota, AProgramThatHangsIsAbsentOrLiesIsNoBound) {
  const Place place;
  const auto script = [&](const std::string& text) {
    place.write("lfs", "#!/bin/sh\n" + text);
    ::chmod((place / "lfs").c_str(), 0755);
    return lustre_quotas(place.path(), (place / "lfs").string(), std::chrono::milliseconds(500), {});
  };
  const auto told = script("[ \"$1 $2\" = 'quota -q' ] || exit 1\necho \"/l 100 0 1124 - 3 0 7 -\"\n");
  ASSERT_EQ(told.found.size(), 2U) << "user and group";
  EXPECT_EQ(told.found[0].bytes_left, 1024U * 1024);
  EXPECT_EQ(told.found[0].inodes_left, 4U);
  EXPECT_EQ(told.found[1].kind, QuotaKind::group);
  EXPECT_TRUE(told.unknown.empty());
  for (const char* text : {"exit 3\n", "echo what\n", "sleep 60\n"}) {
    const auto nothing = script(text);
    EXPECT_TRUE(nothing.found.empty()) << text;
    EXPECT_EQ(nothing.unknown.size(), 2U) << text;
  }
  EXPECT_EQ(lustre_quotas(place.path(), "/nowhere/lfs", std::chrono::milliseconds(500), {}).unknown.size(), 2U);
}

TEST(FileStripes, LfsAnswersAreNumbersOrNothing) {
  for (const auto& [text, bytes] :
       std::vector<std::pair<const char*, std::uint64_t>>{{"1048576\n", 1048576},
                                                          {"1048576\n  16777216\n4194304\n", 16777216},
                                                          {"", 0},
                                                          {"0\n", 0},
                                                          {"lmm_stripe_size: 1", 0},
                                                          {"-1\n", 0},
                                                          {"1048576 bytes", 0},
                                                          {"99999999999999999999", 0}}) {
    EXPECT_EQ(try_parse_lfs_stripe(text).value_or(0), bytes) << text;
  }
  const Place place;
  const auto script = [&](const std::string& text) {
    place.write("lfs", "#!/bin/sh\n" + text);
    ::chmod((place / "lfs").c_str(), 0755);
    return lustre_stripe_bytes("/some/file", (place / "lfs").string(), std::chrono::milliseconds(500), {});
  };
  EXPECT_EQ(script("[ \"$*\" = 'getstripe -S /some/file' ] && echo 16777216\n"), 16777216U);
  EXPECT_FALSE(script("echo 16777216\nexit 25\n")) << "no Lustre";
  EXPECT_FALSE(script("sleep 60\n"));
  EXPECT_FALSE(lustre_stripe_bytes("/some/file", "/nowhere/lfs", std::chrono::milliseconds(500), {}));
}

TEST(Quota, WhatTheKernelDoesNotSayIsNoBound) {
  const Place place;
  EXPECT_NO_THROW(static_cast<void>(kernel_quotas(place.path())));
  EXPECT_TRUE(kernel_quotas("/proc").found.empty());
  EXPECT_TRUE(kernel_quotas("/nowhere/at/all").found.empty());
}

TEST(Quota, TheDeviceOfAMount) {
  const std::string text =
      "22 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw\n"
      "23 22 0:21 / /proc rw - proc proc rw\n"
      "broken\n"
      "36 35 98:1 /mnt1 /mnt2 rw,noatime - ext3 /dev/root rw,errors=continue\n";
  EXPECT_EQ(device_of_mount(text, makedev(254, 0)), "/dev/vda");
  EXPECT_EQ(device_of_mount(text, makedev(98, 1)), "/dev/root");
  EXPECT_EQ(device_of_mount(text, makedev(0, 21)), "") << "no device";
  EXPECT_EQ(device_of_mount(text, makedev(9, 9)), "");
  EXPECT_EQ(device_of_mount("", makedev(254, 0)), "");
}

TEST(Memory, TheLeastOfTheMachineAndEachGroup) {
  const Place place;
  const fs::path proc = place / "proc", groups = place / "groups";
  EXPECT_FALSE(memory_left(proc, groups));
  place.write("proc/meminfo", "MemTotal: 999 kB\nMemAvailableX: 1 kB\nMemAvailable:    2000 kB\n");
  EXPECT_EQ(memory_left(proc, groups)->bytes, 2'048'000U);
  place.write("proc/self/cgroup", "4:cpu,memory:/job/step\n0::/unified/job\nnonsense\n3:memory:../../etc\n");
  place.write("groups/unified/job/memory.max", "max\n");
  place.write("groups/unified/job/memory.current", "5\n");
  EXPECT_EQ(memory_left(proc, groups)->bytes, 2'048'000U) << "no limit";
  place.write("groups/unified/memory.max", "1000000\n");
  place.write("groups/unified/memory.current", "900000\n");
  place.write("groups/unified/memory.stat", "anon 1\nfile 500000\nshmem 200000\n");
  const auto by_parent = memory_left(proc, groups);
  EXPECT_EQ(by_parent->bytes, 400'000U) << "what caches disks is given back, what files in memory take is not";
  EXPECT_NE(by_parent->by.find("/unified"), std::string::npos) << by_parent->by;
  place.write("groups/memory/job/step/memory.limit_in_bytes", "9223372036854771712\n");
  place.write("groups/memory/job/step/memory.usage_in_bytes", "1\n");
  EXPECT_EQ(memory_left(proc, groups)->bytes, 400'000U) << "version 1 without a limit";
  place.write("groups/memory/job/memory.limit_in_bytes", "300000\n");
  place.write("groups/memory/job/memory.usage_in_bytes", "350000\n");
  place.write("groups/memory/job/memory.stat", "total_cache 60000\ntotal_shmem 0\n");
  EXPECT_EQ(memory_left(proc, groups)->bytes, 10'000U);
}

Limits roomy() {
  Limits limits;
  limits.place = "/the/store";
  limits.bytes_free = 1000;
  limits.inodes_free = 100;
  return limits;
}

TEST(Bounds, EachOneCanRefuse) {
  const Need need{600, 50, 400, "data/big.h5"};
  EXPECT_FALSE(refusal_of(roomy(), need, {}, "x"));
  struct Case {
    const char* word;
    void (*change)(Limits&);
  };
  const Case cases[] = {
      {"600 bytes", [](Limits& l) { l.bytes_free = 599; }},
      {"50 inodes", [](Limits& l) { l.inodes_free = 49; }},
      {"user quota, bytes",
       [](Limits& l) {
         l.quotas = {{QuotaKind::user, 7, 599, std::nullopt}};
       }},
      {"group quota, inodes",
       [](Limits& l) {
         l.quotas = {{QuotaKind::group, 7, std::nullopt, 49}};
       }},
      {"project quota, bytes",
       [](Limits& l) {
         l.quotas = {{QuotaKind::project, 7, 0, std::nullopt}};
       }},
      {"memory",
       [](Limits& l) {
         l.memory = MemoryLeft{599, "the machine"};
       }},
      {"data/big.h5",
       [](Limits& l) {
         l.file_size = FileSizeLimit{399, "ulimit -f"};
       }},
  };
  for (const auto& [word, change] : cases) {
    Limits limits = roomy();
    change(limits);
    const auto failure = refusal_of(limits, need, {}, "the asset");
    ASSERT_TRUE(failure) << word;
    EXPECT_EQ(failure->kind, FailureKind::space);
    EXPECT_NE(failure->message.find(word), std::string::npos) << failure->message;
    EXPECT_NE(failure->message.find("the asset"), std::string::npos) << failure->message;
    EXPECT_FALSE(failure->hint.empty());
  }
}

TEST(Bounds, WhatOthersWerePromisedIsNotFree) {
  Limits limits = roomy();
  limits.quotas = {{QuotaKind::user, 7, 700, std::nullopt}};
  const Promised strangers{400, 50, 0, 0, 1};
  EXPECT_FALSE(refusal_of(limits, {600, 50, 0, ""}, strangers, "x")) << "another user's fetch takes none of our quota";
  EXPECT_TRUE(refusal_of(limits, {601, 0, 0, ""}, strangers, "x"));
  EXPECT_TRUE(refusal_of(limits, {0, 51, 0, ""}, strangers, "x"));
  const Promised ours{400, 0, 400, 0, 1};
  EXPECT_FALSE(refusal_of(limits, {300, 0, 0, ""}, ours, "x"));
  const auto failure = refusal_of(limits, {301, 0, 0, ""}, ours, "x");
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->message.find("400 bytes) are reserved by others"), std::string::npos) << failure->message;
  EXPECT_TRUE(refusal_of(limits, {1, 0, 0, ""}, {UINT64_MAX, 0, 0, 0, 1}, "x")) << "no wrap-around";
}

TEST(Limits, OfAPlaceThatIsNotThereYet) {
  const Place place;
  const Limits limits = read_limits(place / "not/there/yet");
  EXPECT_GT(limits.bytes_free, 0U);
  EXPECT_EQ(limits.place, (place / "not/there/yet").string());
  EXPECT_EQ(nearest_existing(place / "not/there/yet"), place.path());
}

std::optional<std::int64_t> seconds(const std::optional<WallTime>& time) {
  if (!time) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::seconds>(time->time_since_epoch()).count();
}

TEST(Expiry, Times) {
  EXPECT_EQ(seconds(try_parse_time("2026-11-21T18:00:00Z")), 1795284000);
  EXPECT_EQ(seconds(try_parse_time("20261121T180000Z")), 1795284000);
  EXPECT_EQ(seconds(try_parse_time("2026-11-21T19:00:00+01:00")), 1795284000);
  EXPECT_EQ(seconds(try_parse_time("2026-11-21 18:00Z")), 1795284000);
  EXPECT_TRUE(try_parse_time("2026-11-21T18:00", true));
  for (const char* text : {"", "2026", "2026-13-01T00:00Z", "2026-11-21T18:00", "2026-11-21T25:00Z",
                           "-026-11-21T18:00Z", "2026-11-21T18:00:00ZZ", "2026-11-21T18:00:00+99:00", "tomorrow"}) {
    EXPECT_FALSE(try_parse_time(text)) << text;
  }
}

TEST(Expiry, SignedUrls) {
  const auto until = [](const char* query) {
    return seconds(presigned_until(Url::parse(std::string("https://h/f?") + query)));
  };
  EXPECT_EQ(until("X-Amz-Date=20261121T170000Z&X-Amz-Expires=3600&X-Amz-Signature=x"), 1795284000);
  EXPECT_EQ(until("x-goog-date=20261121T170000Z&x-goog-expires=3600"), 1795284000);
  EXPECT_EQ(until("sv=1&se=2026-11-21T18%3A00%3A00Z&sig=x"), 1795284000);
  EXPECT_EQ(until("AWSAccessKeyId=a&Signature=b&Expires=1795284000"), 1795284000);
  for (const char* query :
       {"", "Expires=1795284000", "X-Amz-Date=20261121T170000Z&X-Amz-Expires=-5", "X-Amz-Date=x&X-Amz-Expires=5",
        "se=2026-11-21T18:00:00Z", "X-Amz-Date=%zz&X-Amz-Expires=1"}) {
    EXPECT_FALSE(until(query)) << query;
  }
}

TEST(Expiry, Tokens) {
  // {"alg":"none"} . {"sub":"a","exp":1795284000} . nothing
  EXPECT_EQ(seconds(token_until("eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIiwiZXhwIjoxNzk1Mjg0MDAwfQ.")), 1795284000);
  for (const char* token : {"", "abc", "a.b", "..", "a.!!.c", "a.e30.c", "hf_aaaaaaaaaaaaaaaaaaaaa", "a.WzFd.c"}) {
    EXPECT_FALSE(token_until(token)) << token;
  }
}

TEST(IdleCores, OnlyThoseThatThisProcessMayUse) {
  const Place place;
  cpu_set_t ours;
  ASSERT_EQ(::sched_getaffinity(0, sizeof ours, &ours), 0);
  std::size_t core = 0;
  while (!CPU_ISSET(core, &ours)) ++core;
  EXPECT_EQ(idle_seconds(place.path()), std::nullopt) << "no such file";
  const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const std::string first = "cpu" + std::to_string(core) + " 10 20 30 " + std::to_string(std::lround(3 * ticks)) + ' ' +
                            std::to_string(std::lround(ticks)) + " 1 2 3 0 0\n";
  place.write("stat", "cpu  1 2 3 4 5 6 7 8 0 0\n" + first + "cpu1023 1 2 3 4000000 5 6 7 8 0 0\nintr 1 2 3\n");
  EXPECT_EQ(idle_seconds(place.path()), 4.0) << "idle and waiting for a disk; another's core does not count";
  place.write("stat", "cpu  1 2 3 4 5 6 7 8 0 0\ncpux 1 2 3 4 5\ncpu" + std::to_string(core) + " 1 2\n");
  EXPECT_EQ(idle_seconds(place.path()), std::nullopt) << "not the kernel's words";
  const auto here = idle_seconds();
  ASSERT_TRUE(here);
  EXPECT_GE(idle_seconds(), here);
}

}  // namespace
}  // namespace sabath
