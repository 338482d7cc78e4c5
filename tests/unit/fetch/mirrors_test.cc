// The choice of a file's mirror, and when a mirror is given up.
#include "fetch/hosts/mirrors.h"

#include <gtest/gtest.h>

#include "fetch_bench.h"

namespace sabath::test {
namespace {

// That it takes no more is no fault of the file that was refused.
TEST(MirrorSet, AHostThatServesOthersIsNotDead) {
  FetchBench bench;
  FetchContext context = bench.context();
  const FileJob job = job_for({"https://a.example/f"});
  const Error full(Failure{FailureKind::network, "429", "", std::chrono::milliseconds(0)});
  MirrorSet mirrors(context, job, false);
  for (unsigned i = 0; i < attempts_max + 1; ++i) {
    const MirrorSet::Pick pick = mirrors.pick({});
    pick.host->received(1, {});
    mirrors.failed(pick, full, false);
    EXPECT_TRUE(mirrors.any_alive()) << i;
  }
}

}  // namespace
}  // namespace sabath::test
