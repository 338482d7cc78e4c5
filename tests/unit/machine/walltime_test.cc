#include <gtest/gtest.h>

#include "machine/walltime.h"
#include "sabath/error.h"

namespace sabath {
namespace {

TEST(Walltime, Spans) {
  const std::pair<const char*, std::int64_t> table[] = {{"45s", 45},           {"10m", 600},          {"1h30m", 5400},
                                                        {"2d", 172800},        {"90:00", 5400},       {"1:30:00", 5400},
                                                        {"1-02:03:04", 93784}, {" 02:03:04\n", 7384}, {"0s", 0}};
  for (const auto& [text, seconds] : table) EXPECT_EQ(try_parse_span(text), seconds) << text;
  for (const char* text : {"", "5", "h", "5x", "-5m", "1h-5m", "1:2:3:4", ":", "1:", "UNLIMITED", "INVALID",
                           "99999999999999999999h", "9223372036854775807d", "1--02:03:04"}) {
    EXPECT_FALSE(try_parse_span(text)) << text;
  }
}

std::optional<Deadline> asked(const Environment& environment, const std::optional<std::string>& option = {}) {
  const auto deadline = deadline_of(environment, option);
  return deadline ? deadline() : std::nullopt;
}

TEST(Walltime, WhoSaysWhenItEnds) {
  Environment environment;
  EXPECT_FALSE(asked(environment));
  environment.variables = {{"SLURM_JOB_END_TIME", "1795284000"}, {"PBS_JOBID", "1"}, {"PBS_WALLTIME", "3600"}};
  ASSERT_TRUE(asked(environment));
  EXPECT_EQ(asked(environment)->by, "SLURM_JOB_END_TIME");
  EXPECT_EQ(asked(environment)->at, std::chrono::system_clock::from_time_t(1795284000));
  EXPECT_EQ(asked(environment, "2h")->by, "deadline");
  EXPECT_FALSE(asked(environment, "none"));
  environment.variables["SLURM_JOB_END_TIME"] = "soon";
  EXPECT_EQ(asked(environment)->by, "PBS_WALLTIME");
  environment.variables["PBS_WALLTIME"] = "-1";
  EXPECT_FALSE(asked(environment));
  for (const char* text : {"", "soon", "2026-02-30", "5"})
    EXPECT_THROW((void)deadline_of(environment, text), Error) << text;
  EXPECT_EQ(asked(environment, "2026-11-21T18:00:00Z")->at, std::chrono::system_clock::from_time_t(1795284000));
}

}  // namespace
}  // namespace sabath
