#include "mpi/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/wording.h"
#include "mpi/library.h"
#include "mpi/mpi_comm.h"
#include "sabath/error.h"

namespace sabath {
namespace {

[[noreturn]] void refuse(const MpiSearch& search) {
  throw Error(FailureKind::nodes,
              fmt::format("a launcher has started this process, and no MPI can be used: {}",
                          fmt::join(search.passed_over, "; ")),
              search.lacks_plugin
                  ? "build a plug-in for this MPI by share/sabath/mpi/build-mpi-plugin of this installation, or load "
                    "another MPI (`module load ...`)"
                  : fmt::format("load the MPI that the launcher is of (`module load ...`), or set SABATH_LIBMPI to the "
                                "path of its library; `{}` tells of each",
                                verb_text("doctor")));
}

class Started final : public MpiSession {
 public:
  Started(const sabath_mpi_calls& mpi, std::string library) : mpi_(mpi), library_(std::move(library)) {
    int has_threads = 0;
    if (mpi.init(&has_threads) != 0) {
      throw Error(FailureKind::nodes, fmt::format("cannot start {}", library_),
                  fmt::format("`{}` shows which MPI this is", verb_text("doctor")));
    }
    if (has_threads == 0) {
      mpi.finalize();
      throw Error(FailureKind::nodes, fmt::format("{} allows no threads beside it", library_),
                  "use a build of MPI with thread support");
    }
    comm_ = std::make_unique<MpiComm>(mpi, mpi.world());  // no other code in this program uses it
  }
  ~Started() override {
    comm_.reset();
    mpi_.finalize();
  }
  Comm& comm() override { return *comm_; }
  const std::string& library() const override { return library_; }

 private:
  const sabath_mpi_calls& mpi_;
  const std::string library_;
  std::unique_ptr<MpiComm> comm_;
};

}  // namespace

std::unique_ptr<MpiSession> MpiSession::start(const MpiPlaces& places) {
  const MpiSearch search = find_mpi(places);
  if (!search.built) return nullptr;
  if (!search.found) refuse(search);
  return std::make_unique<Started>(*search.calls, search.found->version);
}

}  // namespace sabath
