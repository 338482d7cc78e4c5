// The search, with small libraries that it opens for real. Each test is a process of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "mpi/library.h"
#include "sabath/error.h"
#include "support/temp_dir.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;

const fs::path fakes = SABATH_FAKES;

class MpiSearchTest : public ::testing::Test {
 protected:
  MpiSearchTest() {
    fs::create_directories(directory_.path() / "bin");
    fs::copy_file("/proc/self/exe", places_.program);
    fs::permissions(places_.program, fs::perms(0755));
    use("mpich");
  }
  void use(const std::string& mpi) { variables_["SABATH_LIBMPI"] = fakes / ("fake_" + mpi + ".so"); }

  // A plug-in for MPICH's ABI in the user's directory (0) or beside the program (1).
  fs::path place(const char* plugin, std::size_t where, unsigned mode = 0755) {
    const fs::path in = plugin_directories(places_).at(where), file = in / "libsabath-mpi-mpich.so";
    fs::create_directories(in);
    fs::permissions(in, fs::perms(0755));
    fs::copy_file(fakes / (std::string("fake_") + plugin + ".so"), file);
    fs::permissions(file, fs::perms(mode));
    return file;
  }

  test::TempDir directory_;
  std::map<std::string, std::string> variables_;
  MpiPlaces places_{[this](const std::string& name) -> std::optional<std::string> {
                      const auto found = variables_.find(name);
                      return found == variables_.end() ? std::nullopt : std::optional(found->second);
                    },
                    directory_.path() / "data", directory_.path() / "bin/sabath"};
};

TEST_F(MpiSearchTest, TheUsersPluginComesFirst) {
  const fs::path own = place("plugin", 0);
  place("plugin", 1);
  const MpiSearch search = find_mpi(places_);
  ASSERT_TRUE(search.found) << ::testing::PrintToString(search.passed_over);
  EXPECT_EQ(search.found->plugin, own);
  EXPECT_EQ(search.found->version, "MPICH Version: 4.9");
  EXPECT_EQ(search.found->abi, "mpich");
  EXPECT_EQ(search.found->file, fakes / "fake_mpich.so");
  ASSERT_NE(search.calls, nullptr);
  EXPECT_EQ(search.calls->version, SABATH_MPI_TABLE_VERSION);
}

TEST_F(MpiSearchTest, AnotherTableIsRefusedWithWords) {
  const fs::path old = place("foreign", 0);
  const MpiSearch alone = find_mpi(places_);
  EXPECT_FALSE(alone.found);
  EXPECT_TRUE(alone.lacks_plugin);
  EXPECT_THAT(alone.passed_over,
              Contains(old.string() + ": its table is of version 99, and this program's of 1: build it again"));
  try {
    (void)MpiSession::start(places_);
    FAIL() << "started";
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::nodes);
    EXPECT_THAT(error.failure().message, HasSubstr("version 99"));
    EXPECT_THAT(error.failure().hint, HasSubstr("build-mpi-plugin"));
  }
  const fs::path installed = place("plugin", 1);
  EXPECT_EQ(find_mpi(places_).found->plugin, installed) << "the program's own is next";
}

TEST_F(MpiSearchTest, WhatOthersMayWriteIsNotLoaded) {
  const fs::path open = place("plugin", 1, 0757);
  EXPECT_THAT(find_mpi(places_).passed_over, Contains(open.string() + ": others may write it (mode 757)"));
  fs::permissions(open, fs::perms(0755));
  fs::permissions(open.parent_path(), fs::perms(0777));
  EXPECT_THAT(find_mpi(places_).passed_over, Contains(open.string() + ": its directory " + open.parent_path().string() +
                                                      ": others may write it (mode 777)"));
  fs::permissions(open.parent_path(), fs::perms(0755));
  EXPECT_TRUE(find_mpi(places_).found);
}

TEST_F(MpiSearchTest, AStrangersPluginIsNotLoaded) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to give a file away";
  const fs::path given = place("plugin", 1);
  ASSERT_EQ(::chown(given.c_str(), 12345, 12345), 0);
  EXPECT_THAT(find_mpi(places_).passed_over, Contains(given.string() + ": owned by uid 12345, and not by root or you"));
}

TEST_F(MpiSearchTest, NoPluginInTheCurrentDirectory) {
  const fs::path here = directory_.path() / "work";
  fs::create_directories(here);
  fs::copy_file(fakes / "fake_plugin.so", here / "libsabath-mpi-mpich.so");
  fs::current_path(here);
  places_.data = ".";  // not absolute: it does not count
  EXPECT_FALSE(find_mpi(places_).found);
  fs::current_path("/");
}

TEST_F(MpiSearchTest, AnMpiOfAnotherAbiNeedsItsOwnPlugin) {
  place("plugin", 1);
  for (const auto& [mpi, abi] : {std::pair("openmpi", "openmpi"), std::pair("standard", "abi")}) {
    use(mpi);
    const MpiSearch search = find_mpi(places_);
    EXPECT_FALSE(search.found);
    EXPECT_TRUE(search.lacks_plugin);
    EXPECT_THAT(search.passed_over.back(), HasSubstr(std::string("whose ABI is `") + abi + "`"));
  }
}

TEST_F(MpiSearchTest, SabathLibmpiNamesALibraryByItsPath) {
  place("plugin", 1);
  for (const auto& [name, why] : {std::pair<std::string, std::string>{fakes / "fake_nothing.so", "no MPI of version 3"},
                                  {"fake_mpich.so", "not an absolute path"},
                                  {fakes / "gone.so", "not there"}}) {
    variables_["SABATH_LIBMPI"] = name;
    const MpiSearch search = find_mpi(places_);
    EXPECT_FALSE(search.found) << name;
    EXPECT_FALSE(search.lacks_plugin) << name;
    ASSERT_EQ(search.passed_over.size(), 1U);
    EXPECT_THAT(search.passed_over.front(), HasSubstr(why));
  }
  use("mpich");
  variables_["OMPI_COMM_WORLD_SIZE"] = "2";
  EXPECT_TRUE(find_mpi(places_).found) << "also under another launcher";
}

}  // namespace
}  // namespace sabath
