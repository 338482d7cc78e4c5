#include "cli/run_leases.h"

namespace sabath::cli {

LeasedStore::LeasedStore(std::unique_ptr<Store> store, std::string note, std::string job)
    : store_(std::move(store)),
      note_(std::move(note)),
      job_(std::move(job)),
      lease_(store_->lease({}, note_, {true, job_})) {}

void LeasedStore::use(const Sha256& root) {
  roots_.push_back(root);
  lease_.add(root);
}

// The new lease is there before the old one ends.
void LeasedStore::settle() { lease_ = store_->lease(roots_, note_, {false, job_}); }

}  // namespace sabath::cli
