#include "mpi/session.h"

#include <fmt/format.h>

#include "base/wording.h"
#include "mpi/mpi_comm.h"
#include "sabath/error.h"

namespace sabath {

#ifdef SABATH_WITH_MPI

namespace {

class Started final : public MpiSession {
 public:
  Started() {
    int provided = MPI_THREAD_SINGLE;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
      throw Error(FailureKind::nodes, "cannot start MPI",
                  fmt::format("`{}` shows which MPI this is", verb_text("doctor")));
    }
    if (provided < MPI_THREAD_FUNNELED) {
      MPI_Finalize();
      throw Error(FailureKind::nodes, "this MPI allows no threads beside it", "use a build of MPI with thread support");
    }
    comm_ = std::make_unique<MpiComm>(MPI_COMM_WORLD);  // no other code in this program uses it
  }
  ~Started() override {
    comm_.reset();
    MPI_Finalize();
  }
  Comm& comm() override { return *comm_; }

 private:
  std::unique_ptr<MpiComm> comm_;
};

}  // namespace

std::unique_ptr<MpiSession> MpiSession::start() { return std::make_unique<Started>(); }

#else

std::unique_ptr<MpiSession> MpiSession::start() { return nullptr; }

#endif

}  // namespace sabath
