// Which MPI is taken, by what launchers and libraries show, and which plug-in is trusted.
#include "mpi/choice.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <map>
#include <set>

#include "base/ownership.h"

namespace sabath {
namespace {

EnvironmentVariable variables(const std::map<std::string, std::string>& known) {
  return [known](const std::string& name) {
    const auto found = known.find(name);
    return found == known.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(MpiChoice, TheLauncherIsKnownByItsVariables) {
  EXPECT_EQ(launcher_family(variables({})), MpiFamily::any);
  EXPECT_EQ(launcher_family(variables({{"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_RANK", "0"}})), MpiFamily::openmpi);
  EXPECT_EQ(launcher_family(variables({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}})), MpiFamily::mpich);
  EXPECT_EQ(launcher_family(variables({{"PMIX_RANK", "0"}})), MpiFamily::any) << "srun --mpi=pmix";
  EXPECT_EQ(launcher_family(variables({{"PMI_RANK", "0"}, {"SLURM_STEP_ID", "1"}})), MpiFamily::any) << "--mpi=pmi2";
}

TEST(MpiChoice, TheLaunchersOwnMpiIsLookedForFirst) {
  const auto anywhere = mpi_names(variables({}));
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"}) {
    const auto names = mpi_names(variables({{variable, "1"}}));
    const bool by_pmi = variable == std::string("PMI_RANK");
    EXPECT_EQ(names.front(), by_pmi ? "libmpi_abi.so.1" : "libmpi.so.40") << variable;
    EXPECT_EQ(names.back(), by_pmi ? "libmpi.so.40" : "libmpich.so.12") << variable;
    EXPECT_EQ(std::set(names.begin(), names.end()), std::set(anywhere.begin(), anywhere.end())) << variable;
  }
}

TEST(MpiChoice, TheAbiIsKnownBySymbols) {
  const struct {
    MpiSigns signs;
    MpiFamily launcher;
    MpiVerdict expected;
  } cases[] = {
      {{"libmpi.so.40", true, true, 0, "Open MPI v4.1.4, package: Debian"}, MpiFamily::openmpi, {"openmpi", ""}},
      {{"libmpi.so", true, true, -1, "Open MPI v6.0.0"}, MpiFamily::any, {"openmpi", ""}},
      {{"libmpi.so.12", true, false, 0, "MPICH Version:\t4.0.2"}, MpiFamily::mpich, {"mpich", ""}},
      {{"libmpi.so.12", true, false, -1, "MPICH Version:\t5.0.2"}, MpiFamily::any, {"mpich", ""}},
      {{"libmpi.so.12", true, false, 0, "Intel(R) MPI Library 2021.11"}, MpiFamily::mpich, {"mpich", ""}},
      {{"libmpi_abi.so.1", true, false, 1, "MPICH Version:\t5.0.2"}, MpiFamily::mpich, {"abi", ""}},
      {{"libmpi.so", true, true, 1, "Open MPI v7.0"}, MpiFamily::openmpi, {"abi", ""}},
      {{"libmpi.so.1", true, false, 0, "Some other MPI 1.0"}, MpiFamily::openmpi, {"mpich", ""}},
      {{"libc.so.6", false, false, 0, ""}, MpiFamily::any, {"", "no MPI of version 3 or newer"}},
      {{"libmpi_abi.so.0", true, false, 0, "MPICH Version:\t4.2"},
       MpiFamily::mpich,
       {"", "a draft of the standard ABI, with other numbers"}},
      {{"libmpi.so.40", true, true, 0, "Open MPI v4.1.4, package: Debian"},
       MpiFamily::mpich,
       {"", "Open MPI v4.1.4, but the launcher is of MPICH"}},
      {{"libmpi_abi.so.1", true, false, 1, "MPICH Version:\t5.0.2"},
       MpiFamily::openmpi,
       {"", "MPICH Version: 5.0.2, but the launcher is of Open MPI"}},
  };
  for (const auto& [signs, launcher, expected] : cases) {
    const MpiVerdict found = judge(signs, launcher);
    EXPECT_EQ(found.abi, expected.abi) << signs.text;
    EXPECT_EQ(found.why_not, expected.why_not) << signs.text;
  }
}

TEST(MpiChoice, FirstWords) {
  EXPECT_EQ(first_words("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"), "Open MPI v4.1.4");
  EXPECT_EQ(first_words("MPICH Version:      5.0.2\nMPICH Release date:\tx"), "MPICH Version: 5.0.2");
  EXPECT_EQ(first_words(""), "");
}

struct stat file(unsigned owner, unsigned group, mode_t mode) {
  struct stat at {};
  at.st_uid = owner;
  at.st_gid = group;
  at.st_mode = S_IFREG | mode;
  return at;
}

TEST(MpiChoice, APluginIsTrustedNoMoreThanTheProgram) {
  constexpr unsigned user = 1000, site = 500, stranger = 1001, group = 7;
  const struct stat program = file(site, group, 0755), shared = file(site, group, 0775);
  EXPECT_FALSE(why_not_own(file(0, 0, 0755), user, program));
  EXPECT_FALSE(why_not_own(file(user, 1, 0700), user, program));
  EXPECT_FALSE(why_not_own(file(site, group, 0755), user, program)) << "the program's owner";
  EXPECT_EQ(why_not_own(file(stranger, 1, 0755), user, program), "owned by uid 1001, and not by root or you");
  EXPECT_EQ(why_not_own(file(user, 1, 0777), user, shared), "others may write it (mode 777)");
  EXPECT_EQ(why_not_own(file(user, group, 0775), user, program), "others may write it (mode 775)");
  EXPECT_EQ(why_not_own(file(site, 8, 0775), user, shared), "others may write it (mode 775)") << "another group";
  EXPECT_FALSE(why_not_own(file(site, group, 0775), user, shared)) << "its group may write the program, too";
}

}  // namespace
}  // namespace sabath
